import type { FastifyInstance } from 'fastify';
import { buildAgentsDocument } from '../../contract/documents.ts';
import { renderPage } from './page.ts';

/** The page holds no script and loads nothing. */
const PAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";

/** Makes a text at the first call and keeps it. */
function once(build: () => string): () => string {
  let text: string | undefined;
  return () => (text ??= build());
}

/** The OpenAPI documents and the page for people; open, without a key. */
export function registerDocs(
  app: FastifyInstance,
  buildWhole: () => Record<string, unknown> = buildAgentsDocument,
): void {
  const page = once(() => renderPage(buildAgentsDocument(), '/openapi/agents.json'));
  for (const [path, build] of [
    ['/openapi.json', buildWhole],
    ['/openapi/agents.json', buildAgentsDocument],
  ] as const) {
    const json = once(() => JSON.stringify(build()));
    app.get(path, (_request, reply) => reply.type('application/json; charset=utf-8').send(json()));
  }
  app.get('/docs', (_request, reply) =>
    reply.type('text/html; charset=utf-8').header('content-security-policy', PAGE_POLICY).send(page()),
  );
}
