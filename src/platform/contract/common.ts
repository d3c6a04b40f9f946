import { z } from 'zod';

/** ISO 8601 UTC, millisecond precision: `2026-01-31T09:30:00.000Z`. */
export const Timestamp = z.iso.datetime().meta({ id: 'Timestamp' });

/** A time given by a caller. The database knows no year 0. */
export const GivenTime = Timestamp.refine((time) => Date.parse(time) > 0, 'must be after 1970');

/** A time given by a caller at which something ends. */
export const FutureTime = Timestamp.refine((time) => Date.parse(time) > Date.now(), 'must be in the future');

const MAX_KEYS = 512;
/** Entries and items of an object at all depths. */
const MAX_VALUES = 10_000;

/** Whether a value holds more than so many entries and items at all depths. Stops counting there. */
function holdsMore(value: unknown, limit: number): boolean {
  let left = limit;
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    const children: unknown[] = Object.values(next);
    left -= children.length;
    if (left < 0) return true;
    for (const child of children) open.push(child);
  }
  return false;
}

/** An object with keys of the caller's choice: at most 512, and at most 10,000 values at all depths. */
export function openRecord<K extends z.core.$ZodRecordKey, V extends z.core.SomeType>(key: K, value: V) {
  return z
    .record(key, value)
    .superRefine((record, context) => {
      if (Object.keys(record).length > MAX_KEYS) {
        context.addIssue({ code: 'custom', path: [], message: `must be at most ${MAX_KEYS} entries` });
      } else if (holdsMore(record, MAX_VALUES)) {
        context.addIssue({ code: 'custom', path: [], message: `must hold at most ${MAX_VALUES} values` });
      }
    })
    .meta({ maxProperties: MAX_KEYS });
}

export const Metadata = openRecord(z.string().min(1).max(256), z.unknown()).meta({
  id: 'Metadata',
  maxProperties: MAX_KEYS,
});

/** Opaque to callers; prefix + `_` + 26 Crockford base-32 characters of a UUIDv7. */
export const Id = z.string().min(1).max(256);

/** An address of somebody else's server. What it resolves to is checked where it is called. */
export const HttpUrl = z
  .string()
  .min(1)
  .max(2000)
  .refine((text) => {
    const url = URL.parse(text);
    return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  }, 'must be an http or https URL without credentials');

/** Without `\p{Cc}` and flags, so that clients generated in any language can read the pattern. */
export const NO_CONTROL_CHARACTERS = /^[^\u0000-\u001f\u007f-\u009f]*$/;

/** The caller's stable identifier for a person, team or workspace. */
export const SubjectId = z
  .string()
  .min(1)
  .max(256)
  .regex(NO_CONTROL_CHARACTERS, 'must not contain control characters')
  .meta({ id: 'SubjectId' });

/** 1 to 100 blocks, each of 1 to 20,000 characters. */
export const TextBlock = z
  .object({ type: z.literal('text'), text: z.string().min(1).max(20_000) })
  .meta({ id: 'TextBlock' });
export const TextBlocks = z.array(TextBlock).min(1).max(100);
export type TextBlock = z.infer<typeof TextBlock>;

/** A whole number in a query string. */
export function queryInteger(bounds: { min: number; max: number; default: number }) {
  return z.preprocess(
    (value) => (typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value),
    z.int().min(bounds.min).max(bounds.max).default(bounds.default),
  );
}

/** A number in a query string. */
export function queryNumber(bounds: { min: number; max: number }) {
  return z.preprocess(
    (value) => (typeof value === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value) ? Number(value) : value),
    z.number().min(bounds.min).max(bounds.max),
  );
}

/** Values of one parameter in a query string: separated by commas, or the parameter repeated. 1 to 50 of them. */
export function queryList<T extends z.ZodType>(item: T) {
  return z.preprocess((value) => {
    if (value === undefined) return value;
    const given: unknown[] = Array.isArray(value) ? value : [value];
    return given.flatMap((part): unknown[] => (typeof part === 'string' ? part.split(',') : [part]));
  }, z.array(item).min(1).max(50));
}

/** A point in time in a query string, from 1970 on, with `Z` or an offset. */
export const QueryTime = z.iso.datetime({ offset: true }).refine((time) => Date.parse(time) >= 0, 'must be after 1970');

/** `true` or `false` in a query string. */
export function queryBoolean(fallback: boolean) {
  return z.preprocess(
    (value) => (value === 'true' ? true : value === 'false' ? false : value),
    z.boolean().default(fallback),
  );
}

/** A place in a list; opaque to callers. */
export const Cursor = z.string().min(1).max(1000);

/** A page of a list that is read by cursor alone. */
export const CursorPage = z.object({
  limit: queryInteger({ min: 1, max: 100, default: 50 }),
  cursor: Cursor.optional().describe('`nextCursor` of the page before'),
});
export type CursorPage = z.infer<typeof CursorPage>;

/** A page of a list that is read by cursor or by offset, never by both. */
export const AnyPage = CursorPage.extend({
  offset: queryInteger({ min: 0, max: Number.MAX_SAFE_INTEGER, default: 0 })
    .optional()
    .describe('not together with `cursor`'),
});
export type AnyPage = z.infer<typeof AnyPage>;

export const CursorPagination = z.object({
  limit: z.int(),
  hasMore: z.boolean(),
  nextCursor: Cursor.nullable().describe('null on the last page'),
});
export const AnyPagination = CursorPagination.extend({
  offset: z.int().optional().describe('absent where the page was asked for by cursor'),
  total: z.int().optional().describe('absent where the page was asked for by cursor'),
});

export function cursorListOf<T extends z.ZodType>(item: T) {
  return z.object({ object: z.literal('list'), data: z.array(item), pagination: CursorPagination });
}

export function anyListOf<T extends z.ZodType>(item: T) {
  return z.object({ object: z.literal('list'), data: z.array(item), pagination: AnyPagination });
}

/** The envelope of a page that was read by cursor. */
export function buildCursorList<T>(data: T[], { limit }: { limit: number }, nextCursor: string | null) {
  return { object: 'list' as const, data, pagination: { limit, hasMore: nextCursor !== null, nextCursor } };
}

/** The envelope of a page; `total` is null where it was asked for by cursor. */
export function buildAnyList<T>(
  data: T[],
  page: { limit: number; offset?: number | undefined },
  { total, nextCursor }: { total: number | null; nextCursor: string | null },
) {
  const { pagination, ...list } = buildCursorList(data, page, nextCursor);
  return { ...list, pagination: total === null ? pagination : { ...pagination, offset: page.offset ?? 0, total } };
}

/** The envelope of a list that was read by offset. */
export type List<T> = {
  object: 'list';
  data: T[];
  pagination: { limit: number; offset: number; hasMore: boolean; total: number };
};

export function deletedBody<K extends string>(object: K) {
  return z.object({ object: z.literal(object), id: z.string(), deleted: z.literal(true) });
}

/** A refinement of lists that hold no two items of one key. */
export function uniqueBy<T>(key: (item: T) => string) {
  return (items: T[], context: z.RefinementCtx<T[]>) => {
    const seen = new Set<string>();
    items.forEach((item, index) => {
      if (seen.has(key(item))) context.addIssue({ code: 'custom', path: [index], message: 'must be unique' });
      seen.add(key(item));
    });
  };
}
