import { fastify } from 'fastify';
import type { FastifyError } from 'fastify';
import { pino } from 'pino';
import type { Objects } from '../../src/platform/objects/objects.ts';
import { sendError } from '../../src/platform/http/errors.ts';
import { buildObjectRoutes } from '../../src/platform/http/objects.ts';
import type { HttpDeps } from '../../src/platform/http/deps.ts';

/** Signed addresses of a store that has no server, behind real HTTP. */
export async function startObjectServer(objects: Objects): Promise<{ url: string; close(): Promise<void> }> {
  const app = fastify();
  const log = pino({ level: 'silent' });
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(log, error, request, reply));
  buildObjectRoutes(objects)(app, {} as HttpDeps);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { url, close: () => app.close() };
}
