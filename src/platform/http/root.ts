import type { RoutePlugin } from './server.ts';
import { VERSION } from '../contract/version.ts';

/** Whether the header asks for HTML at least as much as for JSON. Absent and `*` alone are programs. */
export function prefersHtml(accept: string | undefined): boolean {
  const weights = { html: 0, json: 0 };
  for (const item of (accept ?? '').split(',')) {
    const [type = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((part) => part.startsWith('q='))?.slice(2);
    const weight = quality === undefined ? 1 : Number(quality) || 0;
    if (type === 'text/html' || type === 'application/xhtml+xml') weights.html = Math.max(weights.html, weight);
    if (type === 'application/json') weights.json = Math.max(weights.json, weight);
  }
  return weights.html > 0 && weights.html >= weights.json;
}

/** `GET /`: where things are. `console`: browsers are sent to it. Open, without a key. */
export function buildRootRoute(options: { console: boolean }): RoutePlugin {
  const places = { docs: '/docs', ...(options.console ? { console: '/console' } : {}), openapi: '/openapi.json' };
  return (app) => {
    app.get('/', async (request, reply) => {
      void reply.header('vary', 'accept');
      if (options.console && prefersHtml(request.headers.accept)) return await reply.redirect('console/');
      return { name: 'Capstan', version: VERSION, ...places };
    });
  };
}
