import type { FastifyInstance, FastifyRequest } from 'fastify';
import { beginWork } from '../event-loop.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** call it when the request ends */
    endWork: (() => void) | undefined;
  }
}

/** Notes requests by their routes, so that a block of the event loop can be put down to one. */
export function trackRequests(app: FastifyInstance): void {
  app.decorateRequest('endWork', undefined);
  app.addHook('onRequest', (request, _reply, done) => {
    request.endWork = beginWork(`${request.method} ${request.routeOptions.url ?? 'unknown'}`);
    done();
  });
  const end = (request: FastifyRequest): void => request.endWork?.();
  app.addHook('onResponse', (request, _reply, done) => {
    end(request);
    done();
  });
  app.addHook('onRequestAbort', (request, done) => {
    end(request);
    done();
  });
}
