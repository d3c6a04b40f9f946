import type { FastifyInstance } from 'fastify';
import { registerBodyParser as registerNativeBodyParser } from '../platform/http/body.ts';
import { sendError } from '../platform/http/errors.ts';
import { openBudgets } from '../platform/budgets/budgets.ts';
import { requireScope } from '../platform/http/route.ts';
import { CALL_SCOPES, READ_SCOPES } from './contract/document.ts';
import type { RoutePlugin } from '../platform/http/server.ts';
import { METHODS, buildAddRoutes } from './add-routes.ts';
import type { Handler, RouteOptions } from './add-routes.ts';
import { buildAdmission } from './admission.ts';
import { answerCall } from './answer.ts';
import { registerBatches } from './batches/batch-routes.ts';
import { registerBodyParser, registerFormParser } from './body.ts';
import type { GatewayDeps, GatewayPorts } from './deps.ts';
import { CHAT_COMPLETIONS } from './dialects/chat-completions/dialect.ts';
import { buildChatError } from './dialects/chat-completions/error.ts';
import type { ClientDialect } from './dialects/dialect.ts';
import { MESSAGES } from './dialects/messages/dialect.ts';
import { RESPONSES } from './dialects/responses/dialect.ts';
import { answerEndpoint } from './endpoints/answer-endpoint.ts';
import type { Endpoint } from './endpoints/endpoint.ts';
import { ENDPOINTS } from './endpoints/table.ts';
import { sendGatewayError } from './errors.ts';
import { GatewayError } from './gateway-error.ts';
import { countTokens } from './count-tokens.ts';
import { getModel, listModels } from './models.ts';
import { buildTokenBudget } from './usage/budget.ts';
import { registerProviderRoutes } from './providers/provider-routes.ts';
import type { ProviderPorts } from './providers/provider-routes.ts';
import { registerUpstreamRoutes } from './providers/upstream-routes.ts';
import { openGatewayMetrics } from './usage/metrics.ts';
import { ResponseCache } from './response-cache.ts';
import { openUsageRecorder } from './usage/recorder.ts';
import { getRequestLog, listRequestLog } from './usage/request-log.ts';
import { openRequestLog } from './usage/request-recorder.ts';
import { listUsage } from './usage/report.ts';

/** The gateway's routes. Each route sends errors in its own format. */
export function buildGatewaySurface(ports: GatewayPorts): RoutePlugin {
  return (app, http) => {
    const recorder = openUsageRecorder(ports);
    const requests = openRequestLog(ports);
    const budgets = openBudgets(ports);
    const parts = [recorder, requests, budgets];
    app.addHook('onClose', async () => void (await Promise.all(parts.map((part) => part.close()))));
    const { tokensPerDay } = ports;
    const budget = buildTokenBudget(ports, tokensPerDay);
    const { metrics: more, ...rest } = ports;
    const metrics = [openGatewayMetrics(http.metrics.registry), ...(more === undefined ? [] : [more])];
    const admission = buildAdmission(ports.maxBytesInFlight);
    const deps: GatewayDeps = {
      ...rest,
      ...http,
      admission,
      budgets,
      responses: new ResponseCache(),
      usage: { recorder, requests, metrics, budget },
    };
    const { providers } = ports;
    if (providers !== undefined) {
      void app.register(async (scope) => registerNativeRoutes(scope, { ...deps, ...providers }));
    }
    void app.register(async (scope) => {
      registerBodyParser(scope);
      registerRoutes(scope, deps);
    });
  };
}

/** Routes with bodies and errors in the shapes of the agent service. */
function registerNativeRoutes(app: FastifyInstance, deps: GatewayDeps & ProviderPorts): void {
  registerNativeBodyParser(app);
  app.setErrorHandler((error, request, reply) => sendError(deps.log, error, request, reply));
  registerProviderRoutes(app, deps);
  registerUpstreamRoutes(app, deps);
}

function registerRoutes(app: FastifyInstance, deps: GatewayDeps): void {
  const addRoutes = buildAddRoutes(app, deps);
  const answer = (url: string, dialect: ClientDialect) =>
    addRoutes(url, { POST: (request, reply) => answerCall(deps, dialect, request, reply) }, { dialect });

  answer('/v1/chat/completions', CHAT_COMPLETIONS);
  answer('/v1/responses', RESPONSES);
  answer('/v1/messages', MESSAGES);
  const count: Handler = (request, reply) => countTokens(deps, request, reply);
  addRoutes('/v1/messages/count_tokens', { POST: count }, { dialect: MESSAGES });
  registerStoredResponses(app, deps);
  for (const prefix of ['', '/v1']) {
    addRoutes(`${prefix}/models`, { GET: (request) => listModels(deps, request) });
    // Model ids contain slashes, encoded or not: the id is the rest of the path.
    addRoutes(`${prefix}/models/*`, {
      GET: (request) => getModel(deps, request, (request.params as { '*': string })['*']),
    });
  }
  addRoutes('/v1/requests', { GET: (request) => listRequestLog(deps, request) });
  addRoutes('/v1/requests/:requestId', { GET: (request) => getRequestLog(deps, request) });
  addRoutes('/v1/usage', { GET: (request, reply) => listUsage(deps, request, reply) });
  addRoutes('/health', { GET: () => ({ status: 'ok' }) }, { open: true });
  registerEndpoints(app, deps);
  registerBatches(app, deps, (scope) => buildAddRoutes(scope, deps));
}

/** Files of up to 25 MiB, the limit of SDKs, plus the other parts of the form. */
const FORM_LIMIT = 32 * 1024 * 1024;

function registerEndpoints(app: FastifyInstance, deps: GatewayDeps): void {
  const add = (scope: FastifyInstance, endpoint: Endpoint, options: RouteOptions) =>
    buildAddRoutes(scope, deps)(
      `/v1${endpoint.path}`,
      { POST: (request, reply) => answerEndpoint(deps, endpoint, request, reply) },
      options,
    );
  for (const endpoint of ENDPOINTS.filter(({ body }) => body === 'json')) add(app, endpoint, {});
  void app.register(async (scope) => {
    registerFormParser(scope);
    for (const endpoint of ENDPOINTS.filter(({ body }) => body === 'form'))
      add(scope, endpoint, { bodyLimit: FORM_LIMIT });
  });
}

/** Responses are not stored, so none can be fetched, cancelled or deleted. */
function registerStoredResponses(app: FastifyInstance, deps: GatewayDeps): void {
  app.route({
    method: METHODS,
    url: '/v1/responses/*',
    onRequest: async (request, reply) => {
      const caller = await deps.authenticate(request, reply);
      requireScope(caller, request.method === 'GET' || request.method === 'HEAD' ? READ_SCOPES : CALL_SCOPES);
    },
    errorHandler: (error, request, reply) =>
      sendGatewayError({ log: deps.log, render: buildChatError }, error, request, reply),
    handler: () => {
      throw new GatewayError('not_found', 'Responses are not stored; send the whole conversation.');
    },
  });
}
