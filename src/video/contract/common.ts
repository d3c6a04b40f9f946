import { z } from 'zod';
import { Cursor } from '../../platform/contract/common.ts';
import type { PageOf } from '../../platform/store/pages.ts';

/** A page of a list. A `limit` above the maximum counts as the maximum; any other invalid `limit` is an error. */
export function pageQuery(limits: { max: number; default: number }) {
  const read = (value: unknown) => (typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value);
  // Not a transform: the OpenAPI document could not describe one.
  const limit = z
    .int()
    .min(1)
    .overwrite((given) => Math.min(given, limits.max));
  return z.object({
    limit: z.preprocess(read, limit.default(limits.default)),
    offset: z.preprocess(read, z.int().min(0).optional()).describe('0 unless given; not together with `cursor`'),
    cursor: Cursor.optional().describe('`next_cursor` of the page before'),
  });
}

export const VideoPagination = z
  .object({
    offset: z.int().optional().describe('absent where the page was asked for by cursor'),
    limit: z.int(),
    has_more: z.boolean(),
    next_cursor: Cursor.nullable().describe('null on the last page'),
  })
  .meta({ id: 'VideoPagination' });

export type VideoPage = { limit: number; offset?: number | undefined; cursor?: string | undefined };

export function videoListOf<T extends z.ZodType>(item: T) {
  return z.object({ data: z.array(item), pagination: VideoPagination });
}

/** Builds the envelope of a page. */
export function buildVideoList<T>({ rows, nextCursor }: Pick<PageOf<T>, 'rows' | 'nextCursor'>, page: VideoPage) {
  const pagination = { limit: page.limit, has_more: nextCursor !== null, next_cursor: nextCursor };
  const offset = page.cursor === undefined ? { offset: page.offset ?? 0 } : {};
  return { data: rows, pagination: { ...offset, ...pagination } };
}

/** At least two characters after trimming. */
export const SearchText = z.string().trim().min(2).max(200);
