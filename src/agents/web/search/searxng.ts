import { z } from 'zod';
import { SearchError, collectPages } from './backend.ts';
import type { Ask, SearchBackend } from './backend.ts';

const Answer = z.object({
  results: z.array(z.object({ url: z.string(), title: z.string().nullish(), content: z.string().nullish() })),
  /** engine and reason */
  unresponsive_engines: z.array(z.array(z.string())).catch([]),
});

const MAX_PAGES = 10;

/** A SearXNG server whose settings list `json` among `search.formats`. */
export function buildSearxng(ask: Ask, apiKey: string | undefined): SearchBackend {
  const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return (query, limit, signal) =>
    collectPages(limit, MAX_PAGES, async (page) => {
      const parameters = new URLSearchParams({ q: query, format: 'json', pageno: String(page + 1) });
      const { results, unresponsive_engines: silent } = await ask(Answer, `/search?${parameters.toString()}`, {
        headers,
        signal,
      });
      if (page === 0 && results.length === 0 && silent.length > 0) {
        throw new SearchError(`No engine of the search backend answered: ${silent.map(describe).join(', ')}.`);
      }
      return results.map(({ url, title, content }) => ({ url, title: title ?? '', description: content ?? '' }));
    });
}

function describe([engine, reason]: string[]): string {
  return reason === undefined ? String(engine) : `${engine} (${reason})`;
}
