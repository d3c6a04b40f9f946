import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import {
  describeSchedule,
  findNextTime,
  isOneShot,
  parseSchedule,
  readSchedule,
} from '../../../src/agents/automations/schedule.ts';

const ANCHOR = new Date('2026-01-01T10:00:00.000Z');

describe('the text of a schedule', () => {
  it.each([
    ['30m', '30m', 'once in 30m'],
    [' 30  Minutes ', '30m', 'once in 30m'],
    ['1 hr', '1h', 'once in 1h'],
    ['2days', '2d', 'once in 2d'],
    ['every 2h', 'every 2h', 'every 2h'],
    ['Every  90 mins', 'every 90m', 'every 90m'],
    ['every 007d', 'every 7d', 'every 7d'],
    ['2030-05-06', '2030-05-06T00:00:00.000Z', 'once at 2030-05-06 00:00 UTC'],
    ['2030-05-06T07:08', '2030-05-06T07:08:00.000Z', 'once at 2030-05-06 07:08 UTC'],
    ['2030-05-06 07:08:09', '2030-05-06T07:08:09.000Z', 'once at 2030-05-06 07:08 UTC'],
    ['2030-05-06T07:08:09.5Z', '2030-05-06T07:08:09.500Z', 'once at 2030-05-06 07:08 UTC'],
    ['2030-05-06T07:08:00+02:00', '2030-05-06T05:08:00.000Z', 'once at 2030-05-06 05:08 UTC'],
    ['0  9 * * 1-5', '0 9 * * 1-5', 'At 09:00, Monday through Friday'],
    ['0 9 L * *', '0 9 l * *', 'At 09:00, on the last day of the month'],
    ['*/15 * * * *', '*/15 * * * *', 'Every 15 minutes'],
    ['0 0 1 JAN *', '0 0 1 jan *', 'At 00:00, on day 1 of the month, only in January'],
  ])('%j is kept as %j and shown as %j', (source, text, display) => {
    expect(parseSchedule(source)?.text).toBe(text);
    expect(describeSchedule(text)).toBe(display);
  });

  it.each([
    '',
    'soon',
    '0m',
    'every 0h',
    'every',
    'every day',
    '30s',
    '1.5h',
    '-5m',
    '9999999d',
    '* * * *',
    '0 0 * * * *',
    '@daily',
    '60 * * * *',
    '* * * 13 *',
    '0 0 30 2 *',
    '2030-02-30',
    '2030-13-01',
    '9999-12-31T23:59-14:00',
    '2030-05-06T25:00',
    '2030-05-06T07:08:09.5Z nonsense',
    'every * * * * *',
  ])('%j is refused', (source) => {
    expect(parseSchedule(source)).toBeUndefined();
  });

  it('is its own normal form, whatever it was', () => {
    const unit = fc.constantFrom('m', 'min', 'minutes', 'h', 'hours', 'd', 'day');
    const duration = fc.tuple(fc.integer({ min: 1, max: 3000 }), unit).map(([count, word]) => `${count} ${word}`);
    const field = (max: number) => fc.oneof(fc.constant('*'), fc.integer({ min: 1, max }).map(String));
    const cron = fc.tuple(field(59), field(23), field(28), field(12), field(6)).map((fields) => fields.join('  '));
    const at = fc
      .date({ min: new Date('2027-01-01'), max: new Date('2200-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString());
    const any = fc.oneof(
      duration,
      duration.map((text) => `every ${text}`),
      cron,
      at,
    );
    fc.assert(
      fc.property(any, (source) => {
        const parsed = parseSchedule(source);
        if (parsed === undefined) throw new Error(`refused: ${source}`);
        expect(parseSchedule(parsed.text)).toEqual(parsed);
        expect(describeSchedule(parsed.text)).not.toBe('');
      }),
    );
  });

  it('never brings anything but a schedule or a refusal', () => {
    const noise = fc.oneof(fc.string(), fc.stringMatching(/^[0-9*/,\- a-z]{5,30}$/));
    fc.assert(
      fc.property(noise, (source) => {
        const parsed = parseSchedule(source);
        expect(parsed === undefined ? undefined : readSchedule(parsed.text)).toEqual(parsed?.schedule);
      }),
    );
  });
});

function next(text: string, after: string, timezone = 'UTC'): string | undefined {
  return findNextTime(readSchedule(text), { anchoredAt: ANCHOR, timezone }, new Date(after))?.toISOString();
}

describe('the next time of a schedule', () => {
  it.each([
    ['30m', '2026-01-01T10:00:00.000Z', '2026-01-01T10:30:00.000Z'],
    ['30m', '2026-01-01T10:30:00.000Z', undefined],
    ['every 2h', '2026-01-01T10:00:00.000Z', '2026-01-01T12:00:00.000Z'],
    ['every 2h', '2026-01-01T12:00:00.000Z', '2026-01-01T14:00:00.000Z'],
    ['every 2h', '2026-01-03T11:59:59.999Z', '2026-01-03T12:00:00.000Z'],
    ['0 9 * * 1-5', '2026-01-02T09:00:00.000Z', '2026-01-05T09:00:00.000Z'],
    // Friday the 2nd comes before the 13th: a match of either field suffices.
    ['0 0 13 * 5', '2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'],
    ['0 0 13 * 5', '2026-01-12T00:00:00.000Z', '2026-01-13T00:00:00.000Z'],
    ['0 0 29 2 *', '2026-01-01T00:00:00.000Z', '2028-02-29T00:00:00.000Z'],
    ['30 1 * * *', '2026-03-29T00:00:00.000Z', '2026-03-29T01:30:00.000Z'],
  ])('of %j after %s is %s', (text, after, expected) => {
    expect(next(text, after)).toBe(expected);
  });

  it('is the earliest one after any moment, for intervals on the grid of their anchor', () => {
    const moment = fc.date({ min: ANCHOR, max: new Date('2040-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(moment, fc.integer({ min: 1, max: 5000 }), (after, minutes) => {
        const found = findNextTime(
          { kind: 'every', periodMs: minutes * 60_000 },
          { anchoredAt: ANCHOR, timezone: 'UTC' },
          after,
        );
        if (found === undefined) throw new Error('none');
        const distance = found.getTime() - after.getTime();
        expect(distance > 0 && distance <= minutes * 60_000).toBe(true);
        expect((found.getTime() - ANCHOR.getTime()) % (minutes * 60_000)).toBe(0);
      }),
    );
  });

  it('occurs once for one-time schedules', () => {
    expect(
      ['30m', '2030-01-01', 'every 30m', '* * * * *'].map((text) => isOneShot(readSchedule(parseSchedule(text)!.text))),
    ).toEqual([true, true, false, false]);
  });
});

describe('a time zone', () => {
  it.each([
    ['2030-05-06T07:08', '2030-05-06T05:08:00.000Z'],
    ['2030-01-06', '2030-01-05T23:00:00.000Z'],
    ['2030-05-06 07:08:09.5', '2030-05-06T05:08:09.500Z'],
    // An offset in the text is kept.
    ['2030-05-06T07:08Z', '2030-05-06T07:08:00.000Z'],
    ['2030-05-06T07:08-04:00', '2030-05-06T11:08:00.000Z'],
    // Clocks skip this hour: as much after the gap begins.
    ['2026-03-29T02:30', '2026-03-29T01:30:00.000Z'],
    // Clocks show this time twice: use the first.
    ['2026-10-25T02:30', '2026-10-25T00:30:00.000Z'],
  ])('reads the timestamp %j as %s', (source, text) => {
    expect(parseSchedule(source, 'Europe/Brussels')?.text).toBe(text);
  });

  it('leaves durations and intervals alone, and is named beside a cron expression', () => {
    expect(parseSchedule('every 2h', 'Asia/Tokyo')?.text).toBe('every 2h');
    expect(describeSchedule('every 2h', 'Asia/Tokyo')).toBe('every 2h');
    expect(describeSchedule('0 9 * * *', 'Asia/Tokyo')).toBe('At 09:00 (Asia/Tokyo)');
  });

  it.each([
    ['0 9 * * *', '2026-01-01T00:00:00.000Z', 'America/New_York', ['2026-01-01T14:00', '2026-01-02T14:00']],
    // Daylight saving begins: nine in the morning stays nine, and a time in the gap moves to its end.
    ['0 9 * * *', '2026-03-28T00:00:00.000Z', 'Europe/Brussels', ['2026-03-28T08:00', '2026-03-29T07:00']],
    [
      '30 2 * * *',
      '2026-03-28T00:00:00.000Z',
      'Europe/Brussels',
      ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30'],
    ],
    // Daylight saving ends: a repeated time runs once a day; an hourly schedule runs in both.
    ['0 9 * * *', '2026-10-24T00:00:00.000Z', 'Europe/Brussels', ['2026-10-24T07:00', '2026-10-25T08:00']],
    [
      '30 2 * * *',
      '2026-10-24T00:00:00.000Z',
      'Europe/Brussels',
      ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30'],
    ],
    [
      '30 * * * *',
      '2026-10-24T23:40:00.000Z',
      'Europe/Brussels',
      ['2026-10-25T00:30', '2026-10-25T01:30', '2026-10-25T02:30'],
    ],
    // Clocks go back by half an hour.
    [
      '*/15 * * * *',
      '2026-04-04T14:20:00.000Z',
      'Australia/Lord_Howe',
      ['2026-04-04T14:30', '2026-04-04T14:45', '2026-04-04T15:00', '2026-04-04T15:15', '2026-04-04T15:30'],
    ],
    // The year ends early in the east and late in the west.
    ['0 0 1 1 *', '2026-12-30T00:00:00.000Z', 'Pacific/Kiritimati', ['2026-12-31T10:00', '2027-12-31T10:00']],
    ['59 23 31 12 *', '2026-12-31T12:00:00.000Z', 'America/New_York', ['2027-01-01T04:59', '2028-01-01T04:59']],
    ['0 0 * * 1', '2026-12-28T12:00:00.000Z', 'Europe/Brussels', ['2027-01-03T23:00', '2027-01-10T23:00']],
    ['0 0 l * *', '2026-12-30T00:00:00.000Z', 'UTC', ['2026-12-31T00:00', '2027-01-31T00:00', '2027-02-28T00:00']],
    // Most years have no such day.
    ['0 0 29 2 *', '2026-12-31T12:00:00.000Z', 'UTC', ['2028-02-29T00:00', '2032-02-29T00:00']],
  ])('%j after %s in %s', (text, after, timezone, expected) => {
    let last = after;
    for (const time of expected) {
      last = next(text, last, timezone) ?? '';
      expect(last).toBe(`${time}:00.000Z`);
    }
  });
});
