import type { FastifyInstance } from 'fastify';
import { buildLoginDocument } from './contract/routes.ts';
import { buildDocsRoutes } from '../platform/http/docs/docs-routes.ts';
import { buildHttpServer } from '../platform/http/server.ts';
import type { ServerOptions } from '../platform/http/server.ts';
import type { LoginPorts } from './deps.ts';
import { sendLoginError } from './errors.ts';
import { buildLoginRoutes } from './routes.ts';

/** The login role's HTTP server, not yet listening. */
export function buildLogin(ports: LoginPorts, options: ServerOptions = {}): FastifyInstance {
  return buildHttpServer(ports, [buildLoginRoutes(ports), buildDocsRoutes({ login: buildLoginDocument })], {
    ...options,
    sendError: sendLoginError,
  });
}
