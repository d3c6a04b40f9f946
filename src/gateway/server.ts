import type { FastifyInstance } from 'fastify';
import { buildInferenceDocument } from './contract/document.ts';
import { buildDocsRoutes } from '../platform/http/docs/docs-routes.ts';
import { buildRootRoute } from '../platform/http/root.ts';
import { buildHttpServer } from '../platform/http/server.ts';
import type { ServerOptions } from '../platform/http/server.ts';
import type { GatewayPorts } from './deps.ts';
import { buildGatewaySurface } from './gateway-routes.ts';
import { sendSdkError } from './unknown-routes.ts';

/** The gateway role's HTTP server, not yet listening. */
export function buildGateway(ports: GatewayPorts, options: ServerOptions = {}): FastifyInstance {
  const documents = buildDocsRoutes({ inference: buildInferenceDocument });
  return buildHttpServer(ports, [buildGatewaySurface(ports), documents, buildRootRoute({ console: false })], {
    ...options,
    sendError: sendSdkError,
  });
}
