import { z } from 'zod';

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
    offset: z.preprocess(read, z.int().min(0).default(0)),
  });
}

export const VideoPagination = z
  .object({ offset: z.int(), limit: z.int(), has_more: z.boolean() })
  .meta({ id: 'VideoPagination' });

export type VideoPage = { limit: number; offset: number };

export function videoListOf<T extends z.ZodType>(item: T) {
  return z.object({ data: z.array(item), pagination: VideoPagination });
}

/** Builds the envelope of a page from one item more than its limit. */
export function buildVideoList<T>(found: readonly T[], { limit, offset }: VideoPage) {
  return { data: found.slice(0, limit), pagination: { offset, limit, has_more: found.length > limit } };
}

/** At least two characters after trimming. */
export const SearchText = z.string().trim().min(2).max(200);
