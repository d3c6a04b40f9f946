import type { WebSearchConfig } from '../../contract/web-search.ts';
import { openEgress } from '../../../platform/egress/egress.ts';
import { buildAsk } from './backend.ts';
import type { SearchBackend } from './backend.ts';
import { buildBrave } from './brave.ts';
import { buildSearxng } from './searxng.ts';
import { buildTavily } from './tavily.ts';

const ADDRESSES = { brave: 'https://api.search.brave.com/res/v1', tavily: 'https://api.tavily.com' };

/** Opens the configured backend. The egress guard allows its own address, but not the targets of redirects. */
export function openSearch(config: WebSearchConfig): { search: SearchBackend; close(): Promise<void> } {
  const { backend, apiKey = '' } = config;
  const baseUrl = config.baseUrl ?? (backend === 'searxng' ? '' : ADDRESSES[backend]);
  const { hostname, port, protocol } = new URL(baseUrl);
  const egress = openEgress({ allow: [`${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`] });
  const ask = buildAsk(egress, baseUrl);
  const backends = {
    searxng: () => buildSearxng(ask, config.apiKey),
    brave: () => buildBrave(ask, apiKey),
    tavily: () => buildTavily(ask, apiKey),
  };
  return { search: backends[backend](), close: () => egress.close() };
}
