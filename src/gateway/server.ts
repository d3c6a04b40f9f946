import type { FastifyInstance } from 'fastify';
import { buildInferenceDocument } from './contract/document.ts';
import { buildDocsRoutes } from '../platform/http/docs/docs-routes.ts';
import { buildHttpServer } from '../platform/http/server.ts';
import type { ServerOptions } from '../platform/http/server.ts';
import type { GatewayPorts } from './deps.ts';
import { buildGatewaySurface } from './gateway-routes.ts';
import { sendSdkError } from './unknown-routes.ts';

/** The gateway role's HTTP server, not yet listening. */
export function buildGateway(ports: GatewayPorts, options: ServerOptions = {}): FastifyInstance {
  return buildHttpServer(ports, [buildGatewaySurface(ports), buildDocsRoutes({ inference: buildInferenceDocument })], {
    ...options,
    sendError: sendSdkError,
  });
}
