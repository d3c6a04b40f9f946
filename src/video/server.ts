import type { FastifyInstance } from 'fastify';
import { buildDocsSurface } from '../http/docs/register.ts';
import { buildObjectSurface } from '../http/objects.ts';
import { buildHttpServer } from '../http/server.ts';
import type { ServerOptions } from '../http/server.ts';
import type { VideoPorts } from './deps.ts';
import { sendVideoError } from './faults.ts';
import { buildVideoSurface } from './register.ts';

/** The video role's HTTP server, not yet listening. */
export function buildVideoServer(ports: VideoPorts, options: ServerOptions = {}): FastifyInstance {
  const surfaces = [buildVideoSurface(ports), buildObjectSurface(ports.objects), buildDocsSurface(['video'])];
  const backends = { ...ports.backends, objects: ports.objects };
  return buildHttpServer({ ...ports, backends }, surfaces, { ...options, sendError: sendVideoError });
}
