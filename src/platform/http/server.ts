import cors from '@fastify/cors';
import { fastify } from 'fastify';
import type { FastifyError, FastifyInstance } from 'fastify';
import { openAudit } from './audit/audit.ts';
import { addWorkIds, enterWork, openWork } from '../work-context.ts';
import { readTrace } from '../trace-context.ts';
import { auditDb } from './audit/audited-db.ts';
import { openAuthenticator } from './auth.ts';
import { DEFAULT_BOUNDS } from './bounds.ts';
import type { Bounds } from './bounds.ts';
import { limitConnections } from './connections.ts';
import type { HttpDeps, HttpPorts } from './deps.ts';
import { drainRefused } from './drain.ts';
import { sendError } from './errors.ts';
import { registerHealth } from './health.ts';
import { linger } from './linger.ts';
import { registerUnknownRoutes } from './methods.ts';
import { startMetricsServer } from './metrics-server.ts';
import { openMetrics } from './metrics.ts';
import { refuseConnection } from './refuse.ts';
import { chooseRequestId } from './request-id.ts';
import type { OidcProvider } from './oidc/provider.ts';
import type { ListenOptions } from './start.ts';
import { openStreamSlots } from './stream-slots.ts';
import { trackRequests } from './track-requests.ts';

export type ServerOptions = {
  /** origins whose pages may call; `*` for all; absent: none */
  corsOrigins?: readonly string[];
  /** the shape of errors outside of every plugin; default: the agent service's */
  sendError?: typeof sendError;
  /** absent: `DEFAULT_BOUNDS` */
  bounds?: Partial<Bounds>;
  /** where metrics and the state of each backend are served instead; absent: here, to callers on this machine */
  metricsServer?: ListenOptions;
  /** the address of this server as browsers know it */
  publicUrl?: string | undefined;
  /** the identity provider of the people who use this server */
  oidc?: OidcProvider | undefined;
  /** records of the audit are lines of the log too */
  printAudit?: boolean | undefined;
  /** how long closing waits for clients to leave their connections; default 0 */
  lingerMs?: number;
  /** addresses and CIDRs of proxies whose `X-Forwarded-*` headers count */
  trustedProxies?: readonly string[];
};

export type HttpServer = FastifyInstance;

/** Puts the routes of one service on the server. */
export type RoutePlugin = (app: FastifyInstance, http: HttpDeps) => void;

/** Longest time in ms a client may take to send its headers, and its whole request. Answers have no bound: streams. */
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 300_000;
/** How often both are checked. */
const TIMEOUT_CHECK_MS = 5000;
const KEEP_ALIVE_MS = 72_000;
/** Of one parameter in the path, encoded; more than the request line can hold, so that validation has the word. */
const MAX_PARAM_LENGTH = 20_000;

function refuseSchema(): never {
  throw new Error('Routes have no schema of fastify.');
}

/** Open from the moment that the server is ready until it has closed: a server that drains still answers its probes. */
function openMetricsServer(app: FastifyInstance, ports: HttpPorts, http: HttpDeps, listen: ListenOptions): void {
  let server: Awaited<ReturnType<typeof startMetricsServer>> | undefined;
  app.addHook('onReady', async () => {
    server = await startMetricsServer(ports, http, listen);
    ports.log.info({ port: server.port }, 'metrics are served on a separate port');
  });
  app.addHook('onClose', async () => server?.close());
}

/** One HTTP server for any number of services, not yet listening. Closing it ends its streams; the ports stay open. */
export function buildHttpServer(
  ports: HttpPorts,
  plugins: readonly RoutePlugin[],
  options: ServerOptions = {},
): FastifyInstance {
  const { log } = ports;
  const send = options.sendError ?? sendError;
  const app = fastify({
    logger: false,
    genReqId: (request) => chooseRequestId(request.headers['x-request-id']),
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    ...(options.trustedProxies?.length ? { trustProxy: [...options.trustedProxies] } : {}),
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: TIMEOUT_CHECK_MS },
    forceCloseConnections: 'idle',
    // What still comes while the server closes is answered like any other, and told to come elsewhere next time.
    return503OnClosing: false,
    // Bodies are checked by the contract. Told so, fastify does not load its own compilers, a tenth of what a role loads.
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
    frameworkErrors: (error, request, reply) => send(log, error, request, reply),
    clientErrorHandler: refuseConnection,
  });
  const closing = new AbortController();
  const bounds = { ...DEFAULT_BOUNDS, ...options.bounds };
  const authenticator = openAuthenticator(ports, bounds, options.oidc);
  const accepted = limitConnections(app.server, bounds);
  const http: HttpDeps = {
    db: auditDb(ports.db),
    audit: openAudit(ports.db, log, { print: options.printAudit }),
    async authenticate(request, reply) {
      const caller = await authenticator.authenticate(request, reply);
      accepted.accept(request.raw.socket);
      addWorkIds({ organizationId: caller.organizationId });
      return caller;
    },
    metrics: openMetrics(ports.registry),
    streamSlots: openStreamSlots(bounds.streamsPerKey),
    closing: closing.signal,
    publicUrl: options.publicUrl,
    oidc: options.oidc,
  };
  const { metrics } = http;

  app.decorateRequest('caller', undefined);
  app.decorateRequest('trace', undefined);
  app.decorateRequest('work', undefined);
  app.addHook('onReady', () => authenticator.start());
  app.addHook('preClose', async () => {
    closing.abort();
    await linger(app.server, options.lingerMs ?? 0);
    await authenticator.close();
  });
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    const trace = readTrace(request.headers);
    request.trace = trace;
    request.work = openWork({ requestId: request.id, traceId: trace.traceId }, trace);
    enterWork(request.work, done);
  });
  // Reading a body ends in events of the connection, which know nothing of the request.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.work === undefined) done();
    else enterWork(request.work, done);
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    drainRefused(request, reply);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unknown';
    const labels = { method: request.method, route, status: String(reply.statusCode) };
    if (reply.getHeader('content-type') !== 'text/event-stream') {
      metrics.requests.observe(labels, reply.elapsedTime / 1000);
    }
    log.debug({ ...labels, requestId: request.id, ms: Math.round(reply.elapsedTime) }, 'request');
    done();
  });
  app.setErrorHandler((error: FastifyError, request, reply) => send(log, error, request, reply));
  if (options.corsOrigins !== undefined && options.corsOrigins.length > 0) {
    void app.register(cors, {
      origin: options.corsOrigins.includes('*') ? '*' : [...options.corsOrigins],
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      exposedHeaders: ['x-request-id', 'retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'],
      maxAge: 600,
    });
  }
  trackRequests(app);
  registerUnknownRoutes(app);
  registerHealth(app, ports, http, options.metricsServer === undefined ? 'local' : 'none');
  if (options.metricsServer !== undefined) openMetricsServer(app, ports, http, options.metricsServer);
  for (const plugin of plugins) plugin(app, http);
  return app;
}
