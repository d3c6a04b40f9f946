import { buildServerDocument } from './join.ts';
import type { ServiceDocuments } from './join.ts';
import type { RoutePlugin } from '../server.ts';
import { renderPage } from './page.ts';

/** The page holds no script and loads nothing. */
const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";

/** Makes a text at the first call and keeps it. */
function once(build: () => string): () => string {
  let text: string | undefined;
  return () => (text ??= build());
}

/** The OpenAPI documents of the services on a server, and the page for people; open, without a key. */
export function buildDocsRoutes(services: ServiceDocuments): RoutePlugin {
  return (app) => {
    const documents = [
      ['/openapi.json', () => buildServerDocument(services)] as const,
      ...Object.entries(services).map(([name, build]) => [`/openapi/${name}.json`, build] as const),
    ];
    for (const [path, build] of documents) {
      const json = once(() => JSON.stringify(build()));
      app.get(path, (_request, reply) => reply.type('application/json; charset=utf-8').send(json()));
    }
    const page = once(() => renderPage(buildServerDocument(services), '/openapi.json'));
    app.get('/docs', (_request, reply) =>
      reply.type('text/html; charset=utf-8').header('content-security-policy', PAGE_POLICY).send(page()),
    );
  };
}
