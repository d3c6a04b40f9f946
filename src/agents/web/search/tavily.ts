import { z } from 'zod';
import { cleanResults } from './backend.ts';
import type { Ask, SearchBackend } from './backend.ts';

const Answer = z.object({
  results: z.array(z.object({ url: z.string(), title: z.string(), content: z.string().nullish() })),
});

/** Bound of the API, which has no second page. */
const MAX_RESULTS = 20;

/** Tavily's Search API. */
export function buildTavily(ask: Ask, apiKey: string): SearchBackend {
  return async (query, limit, signal) => {
    const { results } = await ask(Answer, '/search', {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, max_results: Math.min(MAX_RESULTS, limit), search_depth: 'basic' }),
      signal,
    });
    const found = results.map(({ url, title, content }) => ({ url, title, description: content ?? '' }));
    return cleanResults(found, limit);
  };
}
