import type { FastifyInstance } from 'fastify';
import { buildVideoDocument } from './contract/routes.ts';
import { buildDocsRoutes } from '../platform/http/docs/docs-routes.ts';
import { buildObjectRoutes } from '../platform/http/objects.ts';
import { buildHttpServer } from '../platform/http/server.ts';
import type { ServerOptions } from '../platform/http/server.ts';
import type { VideoPorts } from './deps.ts';
import { sendVideoError } from './errors.ts';
import { buildVideoSurface } from './video-routes.ts';

/** The video role's HTTP server, not yet listening. */
export function buildVideoServer(ports: VideoPorts, options: ServerOptions = {}): FastifyInstance {
  const surfaces = [
    buildVideoSurface(ports),
    buildObjectRoutes(ports.objects),
    buildDocsRoutes({ video: buildVideoDocument }),
  ];
  const backends = { ...ports.backends, objects: ports.objects };
  return buildHttpServer({ ...ports, backends }, surfaces, { ...options, sendError: sendVideoError });
}
