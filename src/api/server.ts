import cors from '@fastify/cors';
import { fastify } from 'fastify';
import type { FastifyError, FastifyInstance } from 'fastify';
import { registerAgentRoutes } from './agents/register.ts';
import { openAuthenticator } from './auth.ts';
import { registerAutomationRoutes } from './automations/register.ts';
import { registerBodyParser } from './body.ts';
import type { ApiDeps, ApiPorts } from './deps.ts';
import { registerDocs } from './docs/register.ts';
import { sendError } from './errors.ts';
import { registerEventRoutes } from './events/register.ts';
import { registerFileRoutes } from './files/register.ts';
import { registerHealth } from './health.ts';
import { registerKeyRoutes } from './keys/register.ts';
import { registerMemoryRoutes } from './memory/register.ts';
import { registerUnknownRoutes } from './methods.ts';
import { openMetrics } from './metrics.ts';
import { refuseConnection } from './refuse.ts';
import { chooseRequestId } from './request-id.ts';
import { registerSessionRoutes } from './sessions/register.ts';
import { registerMcpRoutes } from './mcp/register.ts';
import { registerVaultRoutes } from './vaults/register.ts';

export type ServerOptions = {
  /** origins whose pages may call; `*` for all; absent: none */
  corsOrigins?: readonly string[];
};

/** Longest time in ms a client may take to send its headers, and its whole request. Answers have no bound: streams. */
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 300_000;
const KEEP_ALIVE_MS = 72_000;
/** Of one parameter in the path, encoded; more than the request line can hold, so that validation has the word. */
const MAX_PARAM_LENGTH = 20_000;

/** The API role's HTTP server, not yet listening. Closing it ends its streams; the ports stay open. */
export function buildServer(ports: ApiPorts, options: ServerOptions = {}): FastifyInstance {
  const { log } = ports;
  const app = fastify({
    logger: false,
    genReqId: (request) => chooseRequestId(request.headers['x-request-id']),
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS },
    forceCloseConnections: 'idle',
    frameworkErrors: (error, request, reply) => sendError(log, error, request, reply),
    clientErrorHandler: refuseConnection,
  });
  const closing = new AbortController();
  const authenticator = openAuthenticator(ports);
  const metrics = openMetrics(ports.registry);
  const deps: ApiDeps = { ...ports, authenticate: authenticator.authenticate, metrics, closing: closing.signal };

  app.decorateRequest('caller', undefined);
  app.addHook('onReady', () => authenticator.start());
  app.addHook('preClose', async () => {
    closing.abort();
    await authenticator.close();
  });
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id);
  });
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown';
    const labels = { method: request.method, route, status: String(reply.statusCode) };
    if (reply.getHeader('content-type') !== 'text/event-stream') {
      metrics.requests.observe(labels, reply.elapsedTime / 1000);
    }
    log.debug({ ...labels, requestId: request.id, ms: Math.round(reply.elapsedTime) }, 'request');
  });
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(log, error, request, reply));
  if (options.corsOrigins !== undefined && options.corsOrigins.length > 0) {
    void app.register(cors, {
      origin: options.corsOrigins.includes('*') ? '*' : [...options.corsOrigins],
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      exposedHeaders: ['x-request-id', 'retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'],
      maxAge: 600,
    });
  }
  registerUnknownRoutes(app);
  registerBodyParser(app);
  registerHealth(app, deps);
  registerDocs(app);
  registerKeyRoutes(app, deps);
  registerAgentRoutes(app, deps);
  registerSessionRoutes(app, deps);
  registerEventRoutes(app, deps);
  registerFileRoutes(app, deps);
  registerVaultRoutes(app, deps);
  registerMcpRoutes(app, deps);
  registerAutomationRoutes(app, deps);
  registerMemoryRoutes(app, deps);
  return app;
}
