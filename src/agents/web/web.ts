import type { WebSearchConfig } from '../contract/web-search.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { readPage } from './page.ts';
import type { PageAnswer } from './page.ts';
import { SearchError } from './search/backend.ts';
import type { SearchResult } from './search/backend.ts';
import { openSearch } from './search/open.ts';

/** The web as tools see it. A fault is in words for the model; only the signal's reason is thrown. */
export type Web = {
  /** whether a search backend is configured */
  canSearch: boolean;
  search(query: string, limit: number, signal: AbortSignal): Promise<{ results: SearchResult[] } | { fault: string }>;
  /** What stands at an address: an article, a text, a document. */
  readPage(url: string, signal: AbortSignal): Promise<PageAnswer>;
  close(): Promise<void>;
};

export type WebOptions = { egress: Egress; search: WebSearchConfig | undefined };

const NO_BACKEND =
  'No search backend is configured here. Whoever operates this server can set one with webSearch in capstan.yaml ' +
  '(SearXNG, Brave or Tavily). web_extract reads pages whose addresses are known.';

export function openWeb({ egress, search: config }: WebOptions): Web {
  const opened = config === undefined ? undefined : openSearch(config);
  return {
    canSearch: opened !== undefined,
    async search(query, limit, signal) {
      if (opened === undefined) return { fault: NO_BACKEND };
      try {
        return { results: await opened.search(query, limit, signal) };
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof SearchError) return { fault: error.message };
        throw error;
      }
    },
    readPage: (url, signal) => readPage(egress, url, signal),
    close: async () => opened?.close(),
  };
}
