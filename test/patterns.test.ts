import { expect, test } from 'vitest';
import { decideScript } from '../src/inference/script-prompt.ts';
import { findDanger } from '../src/agents/tools/find-danger.ts';
import { mapPlain } from '../src/agents/tools/patch/unicode.ts';
import { parseV4a } from '../src/agents/tools/patch/v4a.ts';
import { refuseForeground } from '../src/agents/tools/terminal/refusals.ts';
import { cleanResult } from '../src/agents/tools/tool-result.ts';
import { findBodyType } from '../src/agents/web/content-type.ts';
import { describeChallenge } from '../src/login/flow/challenge.ts';
import { findCode, readEmail } from '../src/login/mailbox/email.ts';
import { readPage } from '../src/platform/documents/page.ts';
import { listAttacks, writeAttack } from './support/patterns/attacks.ts';
import type { Attack } from './support/patterns/attacks.ts';
import { BOUNDED, BUILT } from './support/patterns/bounded.ts';
import { findSlow, runPattern, timeBest } from './support/patterns/measure.ts';
import { readPatterns } from './support/patterns/read-patterns.ts';

const MIB = 1_000_000;
const { literals, built } = readPatterns();
const bySource = Map.groupBy(literals, ({ source, flags }) => `/${source}/${flags}`);

/** Undefined if 1 MB takes less than 100 ms of processor time, or about four times as long as 250 KB. */
function findGrowth(attack: Attack, run: (text: string) => void): string | undefined {
  const [quarter, whole] = [MIB / 4, MIB].map((length) => {
    const text = writeAttack(attack, length);
    return timeBest(() => run(text));
  });
  if (whole === undefined || quarter === undefined || whole < 100 || whole < 8 * quarter) return undefined;
  return `${Math.round(quarter)} ms for 250 KB, ${Math.round(whole)} ms for 1 MB of ${JSON.stringify(attack)}`;
}

test('every regular expression of the sources takes linear time, or its text is bounded', () => {
  expect(bySource.size).toBeGreaterThan(300);
  const slow: string[] = [];
  for (const [name, places] of bySource) {
    const [{ file, source, flags } = { file: '', source: '', flags: '' }] = places;
    const bounds = places.map((place) => BOUNDED.find((each) => each.file === place.file && each.source === source));
    const longest = bounds.includes(undefined) ? Infinity : Math.max(...bounds.map((bound) => bound?.length ?? 0));
    const pattern = new RegExp(source, flags);
    const run = (text: string) => runPattern(pattern, text);
    const found = findSlow(listAttacks({ source, flags }), run, longest);
    const growth = found.slow ?? (longest < MIB || !found.worst ? undefined : findGrowth(found.worst, run));
    if (growth !== undefined) slow.push(`${file} ${name}: ${JSON.stringify(growth)}`);
  }
  expect(slow).toEqual([]);
});

test('a regular expression that is put together from parts is listed', () => {
  const list = (calls: readonly { file: string; code: string }[]) => calls.map(({ file, code }) => `${file}: ${code}`);
  expect(list(built)).toEqual(list(BUILT));
});

test('every bound belongs to a pattern', () => {
  const stale = BOUNDED.filter(
    (bound) => !literals.some(({ file, source }) => file === bound.file && source === bound.source),
  );
  expect(stale).toEqual([]);
});

const run = (unit: string, before = ''): Attack => ({ before, unit, after: '' });

const READERS: [name: string, read: (text: string) => unknown, attacks: Attack[]][] = [
  [
    'cleanResult',
    cleanResult,
    [
      ...['a.', 'a+', 'a:', 'http://', 'http://a:', 'sk-', 'eyJaaaaaaaaaa.', 'Bearer ', 'password ', 'api_key='].map(
        (unit) => run(unit),
      ),
      ...['\u001b]', '\u001b[', '\u001b]8;;', '\u009b0;', '-----BEGIN PRIVATE KEY', '\\u001b]'].map((unit) =>
        run(unit),
      ),
      run('PRIVATE KEY', '-----BEGIN '),
    ],
  ],
  [
    'findDanger',
    findDanger,
    ['curl ', 'curl $', 'cat ', 'ignore ', 'ignore all ', 'ignore the\n'].map((unit) => run(unit)),
  ],
  ['parseV4a', parseV4a, [run(' ', '*** Update File'), run('*** Add File: a\n'), run('@@ '), run('@@ a\n')]],
  ['mapPlain', mapPlain, [run('\u2026'), run('a')]],
  ['decideScript', (text) => decideScript(text, ['terminal']), [run(' ', 'run:'), run('run: a\n'), run('call ')]],
  [
    'refuseForeground',
    refuseForeground,
    ['<<a\n', '<<a\n\n', 'tail -', 'a=b ', "'", '"', '\\', '#', '& '].map((unit) => run(unit)),
  ],
  [
    'describeChallenge',
    (text) => describeChallenge(text, 'code', 'otp_email'),
    ['x', '*', '*1', 'x@', 'a*@', '+1 *', 'xx '].map((unit) => run(unit)),
  ],
  [
    'findCode',
    (text) => findCode({ to: [], from: '', subject: '', text, links: [] }),
    ['123456 ', 'code ', 'A1B2-', 'A'].map((unit) => run(unit)),
  ],
];

test.each(READERS)('%s takes linear time', (_name, read, attacks) => {
  const found = attacks.map((attack) => findSlow([attack], read).slow ?? findGrowth(attack, read));
  expect(found.filter((growth) => growth !== undefined)).toEqual([]);
});

test('what is read from the network ends', async () => {
  const bytes = Buffer.from('<!---->'.repeat(MIB / 7));
  expect((await findBodyType(bytes, null)).kind).toBe('page');
  const email = await readEmail(Buffer.from(`Subject: a\r\n\r\n${'a.'.repeat(MIB / 2)}`));
  expect(email.links).toEqual([]);
  const page = readPage(
    { bytes: Buffer.from('data:a/a;'.repeat(MIB / 9)), charset: null, mimeType: 'text/plain', url: null },
    true,
  );
  expect(page.title).toBeNull();
});
