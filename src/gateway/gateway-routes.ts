import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, onRequestAsyncHookHandler } from 'fastify';
import { requireScope } from '../platform/http/route.ts';
import { CALL_SCOPES, READ_SCOPES } from './contract/document.ts';
import type { RoutePlugin } from '../platform/http/server.ts';
import { VERSION } from '../platform/contract/version.ts';
import { buildAdmission } from './admission.ts';
import { answerCall } from './answer.ts';
import { BODY_LIMIT, registerBodyParser } from './body.ts';
import type { GatewayDeps, GatewayPorts } from './deps.ts';
import { CHAT_COMPLETIONS } from './dialects/chat-completions/dialect.ts';
import { buildChatError } from './dialects/chat-completions/error.ts';
import type { ClientDialect } from './dialects/dialect.ts';
import { MESSAGES } from './dialects/messages/dialect.ts';
import { RESPONSES } from './dialects/responses/dialect.ts';
import { sendGatewayError } from './errors.ts';
import { GatewayError } from './gateway-error.ts';
import { countTokens } from './count-tokens.ts';
import { getModel, listModels } from './models.ts';
import { buildTokenBudget } from './usage/budget.ts';
import { openGatewayMetrics } from './usage/metrics.ts';
import { openUsageRecorder } from './usage/recorder.ts';
import { listUsage } from './usage/report.ts';

type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;

const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** The gateway's routes. Each route sends errors in its own format. */
export function buildGatewaySurface(ports: GatewayPorts): RoutePlugin {
  return (app, http) => {
    const recorder = openUsageRecorder(ports);
    app.addHook('onClose', () => recorder.close());
    const { tokensPerDay } = ports;
    const budget = tokensPerDay === undefined ? undefined : buildTokenBudget(ports, tokensPerDay);
    const { metrics: more, ...rest } = ports;
    const metrics = [openGatewayMetrics(http.metrics.registry), ...(more === undefined ? [] : [more])];
    const admission = buildAdmission(ports.maxBytesInFlight);
    const deps: GatewayDeps = { ...rest, ...http, admission, usage: { recorder, metrics, budget } };
    void app.register(async (scope) => {
      registerBodyParser(scope);
      registerRoutes(scope, deps);
    });
  };
}

function registerRoutes(app: FastifyInstance, deps: GatewayDeps): void {
  const authenticate = async (request: FastifyRequest, reply: FastifyReply) => {
    const caller = await deps.authenticate(request, reply);
    requireScope(caller, request.method === 'GET' || request.method === 'HEAD' ? READ_SCOPES : CALL_SCOPES);
    request.caller = caller;
  };

  function route(
    method: HTTPMethods,
    url: string,
    handler: Handler,
    { open = false, dialect = CHAT_COMPLETIONS }: { open?: boolean; dialect?: ClientDialect } = {},
  ) {
    const { requestIdHeader, checkHeaders } = dialect;
    const errorHandler = (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
      sendGatewayError({ log: deps.log, render: dialect.buildError }, error, request, reply);
    app.route({
      method,
      url,
      bodyLimit: BODY_LIMIT,
      exposeHeadRoute: method === 'GET',
      onRequest: [
        ...(requestIdHeader === undefined ? [] : [sendRequestId(requestIdHeader)]),
        ...(open ? [] : [authenticate]),
      ],
      ...(checkHeaders === undefined
        ? {}
        : { preHandler: async ({ headers }: FastifyRequest) => checkHeaders(headers) }),
      errorHandler,
      handler,
    });
    app.route({
      method: METHODS.filter((each) => each !== method && (each !== 'HEAD' || method !== 'GET')),
      url,
      exposeHeadRoute: false,
      errorHandler,
      onRequest: (_request, reply) => {
        void reply.header('allow', method === 'GET' ? 'GET, HEAD' : method);
        throw new GatewayError('method_not_allowed', 'The method is not allowed on this path.');
      },
      handler: () => undefined,
    });
  }

  const answer = (url: string, dialect: ClientDialect) =>
    route('POST', url, (request, reply) => answerCall(deps, dialect, request, reply), { dialect });

  answer('/v1/chat/completions', CHAT_COMPLETIONS);
  answer('/v1/responses', RESPONSES);
  answer('/v1/messages', MESSAGES);
  route('POST', '/v1/messages/count_tokens', (request, reply) => countTokens(deps, request, reply), {
    dialect: MESSAGES,
  });
  registerStoredResponses(app, deps, authenticate);
  for (const prefix of ['', '/v1']) {
    route('GET', `${prefix}/models`, () => listModels(deps));
    // Model ids contain slashes, encoded or not: the rest of the path is the id.
    route('GET', `${prefix}/models/*`, (request) => getModel(deps, (request.params as { '*': string })['*']));
  }
  route('GET', '/v1/usage', (request) => listUsage(deps, request));
  route('GET', '/health', () => ({ status: 'ok' }), { open: true });
  route('GET', '/', () => ({ name: 'Capstan', version: VERSION, docs: '/docs', openapi: '/openapi.json' }), {
    open: true,
  });
}

/** Responses are not stored, so none can be fetched, cancelled or deleted. */
function registerStoredResponses(
  app: FastifyInstance,
  deps: GatewayDeps,
  authenticate: onRequestAsyncHookHandler,
): void {
  app.route({
    method: METHODS,
    url: '/v1/responses/*',
    onRequest: authenticate,
    errorHandler: (error, request, reply) =>
      sendGatewayError({ log: deps.log, render: buildChatError }, error, request, reply),
    handler: () => {
      throw new GatewayError('not_found', 'Responses are not stored; send the whole conversation.');
    },
  });
}

function sendRequestId(header: string): onRequestAsyncHookHandler {
  return async (request, reply) => {
    void reply.header(header, request.id);
  };
}
