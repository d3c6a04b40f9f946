import { z } from 'zod';

/** ISO 8601 UTC, millisecond precision: `2026-01-31T09:30:00.000Z`. */
export const Timestamp = z.iso.datetime().meta({ id: 'Timestamp' });

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

/** `true` or `false` in a query string. */
export function queryBoolean(fallback: boolean) {
  return z.preprocess(
    (value) => (value === 'true' ? true : value === 'false' ? false : value),
    z.boolean().default(fallback),
  );
}

export const Page = z.object({
  limit: queryInteger({ min: 1, max: 100, default: 50 }),
  offset: queryInteger({ min: 0, max: Number.MAX_SAFE_INTEGER, default: 0 }),
});
export type Page = z.infer<typeof Page>;

export const Pagination = z.object({
  limit: z.int(),
  offset: z.int(),
  hasMore: z.boolean(),
  total: z.int(),
});

export function listOf<T extends z.ZodType>(item: T) {
  return z.object({ object: z.literal('list'), data: z.array(item), pagination: Pagination });
}

/** The envelope of every offset-paged list. */
export type List<T> = {
  object: 'list';
  data: T[];
  pagination: { limit: number; offset: number; hasMore: boolean; total: number };
};

export function buildList<T>(data: T[], page: Page, total: number): List<T> {
  const { limit, offset } = page;
  return { object: 'list', data, pagination: { limit, offset, hasMore: offset + data.length < total, total } };
}

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
