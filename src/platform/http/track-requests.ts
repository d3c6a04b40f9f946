import type { FastifyInstance, FastifyRequest } from 'fastify';
import { beginWork } from '../event-loop.ts';

/** Notes requests by their routes, so that a block of the event loop can be put down to one. */
export function trackRequests(app: FastifyInstance): void {
  const ends = new WeakMap<FastifyRequest, () => void>();
  app.addHook('onRequest', async (request) => {
    ends.set(request, beginWork(`${request.method} ${request.routeOptions.url ?? 'unknown'}`));
  });
  app.addHook('onResponse', async (request) => ends.get(request)?.());
  app.addHook('onRequestAbort', async (request) => ends.get(request)?.());
}
