import type { z } from 'zod';
import type { Egress } from '../../../platform/egress/egress.ts';
import { EgressError } from '../../../platform/egress/error.ts';
import { CapstanError } from '../../../platform/errors.ts';
import type { CauseOptions } from '../../../platform/errors.ts';

export type SearchResult = { title: string; url: string; description: string };

/** Up to `limit` results, the best first. Throws a `SearchError`, or the signal's reason. */
export type SearchBackend = (query: string, limit: number, signal: AbortSignal) => Promise<SearchResult[]>;

/** Why there are no results, in words fit for the model: no key, no query. */
export class SearchError extends CapstanError<'search_failed'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('search_failed', message, options);
  }
}

/** A request to the backend; the answer has to be JSON of the given shape. */
export type Ask = <T>(shape: z.ZodType<T>, path: string, init: RequestInit) => Promise<T>;

const MAX_BYTES = 5 * 1024 * 1024;
const TIMEOUT_MS = 20_000;
const MAX_DESCRIPTION = 1000;

export function buildAsk(egress: Egress, baseUrl: string): Ask {
  const base = baseUrl.replace(/(?<!\/)\/+$/, '');
  return async (shape, path, init) => {
    const response = await egress
      .fetch(`${base}${path}`, { ...init, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS })
      .catch((error: unknown) => {
        throw error instanceof EgressError ? new SearchError(`The search backend failed: ${error.message}`) : error;
      });
    if (!response.ok) {
      await response.body?.cancel().catch(() => undefined);
      throw new SearchError(describeStatus(response.status));
    }
    const answer: unknown = await response.json().catch((error: unknown) => {
      init.signal?.throwIfAborted();
      throw new SearchError(
        error instanceof EgressError ? `The search backend failed: ${error.message}` : NOT_UNDERSTOOD,
      );
    });
    const read = shape.safeParse(answer);
    if (!read.success) throw new SearchError(NOT_UNDERSTOOD);
    return read.data;
  };
}

const NOT_UNDERSTOOD = 'The answer of the search backend is not what such a backend answers.';

function describeStatus(status: number): string {
  if (status === 401 || status === 403) {
    return `The search backend refused the request (${status}): its key or its settings are for an operator to mend.`;
  }
  if (status === 429) return 'The search backend takes no more requests for now (429). Try again later.';
  return `The search backend answered with status ${status}.`;
}

/** Reads pages until there are enough results. A later page that fails does not discard earlier results. */
export async function collectPages(
  limit: number,
  maxPages: number,
  readPage: (page: number) => Promise<SearchResult[]>,
): Promise<SearchResult[]> {
  const found = new Map<string, SearchResult>();
  for (let page = 0; page < maxPages && found.size < limit; page += 1) {
    const before = found.size;
    let results: SearchResult[];
    try {
      results = await readPage(page);
    } catch (error) {
      if (found.size > 0 && error instanceof SearchError) break;
      throw error;
    }
    for (const result of results) if (!found.has(result.url)) found.set(result.url, result);
    if (found.size === before) break;
  }
  return cleanResults([...found.values()], limit);
}

/** Results that lead to pages, their texts in one line. */
export function cleanResults(results: readonly SearchResult[], limit: number): SearchResult[] {
  const line = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
  return results
    .filter(({ url }) => /^https?:\/\//i.test(url))
    .slice(0, limit)
    .map(({ title, url, description }) => ({
      title: line(title),
      url,
      description: line(description).slice(0, MAX_DESCRIPTION),
    }));
}
