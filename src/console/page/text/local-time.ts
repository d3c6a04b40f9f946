/** A time of `<input type="datetime-local">` as an ISO time in UTC; null for an empty or unreadable one. */
export function readLocalTime(value: string): string | null {
  const time = Date.parse(value);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** The other way: the value of such a field, to the minute. */
export function writeLocalTime(at: string | null): string {
  if (at === null) return '';
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const DAY_MS = 86_400_000;

/** A day such as `2026-11-01`, or nothing for any other text. */
export function readDay(value: string | undefined): string {
  return value !== undefined && DAY.test(value) && !Number.isNaN(Date.parse(value)) ? value : '';
}

/** The days from `from` to `to`, both included and in UTC, as a range whose end is excluded. */
export function readDays(from: string | undefined, to: string | undefined): { from?: string; to?: string } {
  const [first, last] = [readDay(from), readDay(to)];
  return {
    ...(first === '' ? {} : { from: new Date(first).toISOString() }),
    ...(last === '' ? {} : { to: new Date(Date.parse(last) + DAY_MS).toISOString() }),
  };
}
