import { z } from 'zod';
import { readHtmlText } from '../../../platform/documents/html-text.ts';
import { collectPages } from './backend.ts';
import type { Ask, SearchBackend } from './backend.ts';

const Answer = z.object({
  web: z
    .object({ results: z.array(z.object({ url: z.string(), title: z.string(), description: z.string().nullish() })) })
    .optional(),
});

/** Bounds of the API. */
const PAGE = 20;
const MAX_PAGES = 10;

/** Brave's Web Search API. */
export function buildBrave(ask: Ask, apiKey: string): SearchBackend {
  return (query, limit, signal) =>
    collectPages(limit, MAX_PAGES, async (page) => {
      const parameters = new URLSearchParams({
        q: query,
        count: String(Math.min(PAGE, limit)),
        offset: String(page),
        text_decorations: 'false',
        result_filter: 'web',
      });
      const headers = { accept: 'application/json', 'x-subscription-token': apiKey };
      const { web } = await ask(Answer, `/web/search?${parameters.toString()}`, { headers, signal });
      return (web?.results ?? []).map(({ url, title, description }) => ({
        url,
        title: readHtmlText(title).text,
        description: readHtmlText(description ?? '').text,
      }));
    });
}
