import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, onRequestAsyncHookHandler } from 'fastify';
import { requireScope } from '../platform/http/route.ts';
import { findUnstorable } from '../platform/http/text.ts';
import { BODY_LIMIT } from './body.ts';
import { CALL_SCOPES, READ_SCOPES } from './contract/document.ts';
import type { GatewayDeps } from './deps.ts';
import { CHAT_COMPLETIONS } from './dialects/chat-completions/dialect.ts';
import type { ClientDialect } from './dialects/dialect.ts';
import { MESSAGES } from './dialects/messages/dialect.ts';
import { sendGatewayError } from './errors.ts';
import { GatewayError, invalid } from './gateway-error.ts';
import { addSdkRateLimitHeaders } from './rate-limit-headers.ts';

export type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown;

export const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

export type RouteOptions = { open?: boolean; dialect?: ClientDialect; bodyLimit?: number };
export type AddRoutes = (url: string, handlers: Record<string, Handler>, options?: RouteOptions) => void;

/** The format of an error: the route's, else the one of the caller's SDK. */
function findRender(dialect: ClientDialect | undefined, { headers }: FastifyRequest) {
  if (dialect !== undefined) return dialect.buildError;
  return headers['anthropic-version'] === undefined ? CHAT_COMPLETIONS.buildError : MESSAGES.buildError;
}

/** Refuses text that the database could not be asked for. */
async function checkText({ params, query }: FastifyRequest): Promise<void> {
  if (findUnstorable(params) !== undefined) throw new GatewayError('not_found', 'Nothing has this id.');
  const found = findUnstorable(query);
  if (found !== undefined) throw invalid(`query.${String(found.path[0] ?? '')}`, found.reason);
}

/** Adds routes whose errors are in the format of their dialect, or of the caller's SDK. Other methods of the same path are 405. */
export function buildAddRoutes(app: FastifyInstance, deps: GatewayDeps): AddRoutes {
  const authenticate = async (request: FastifyRequest, reply: FastifyReply) => {
    const caller = await deps.authenticate(request, reply);
    requireScope(caller, request.method === 'GET' || request.method === 'HEAD' ? READ_SCOPES : CALL_SCOPES);
    addSdkRateLimitHeaders(reply);
    request.caller = caller;
  };
  return (url, handlers, { open = false, dialect, bodyLimit = BODY_LIMIT } = {}) => {
    const { requestIdHeader, checkHeaders } = dialect ?? CHAT_COMPLETIONS;
    const errorHandler = (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
      sendGatewayError({ log: deps.log, render: findRender(dialect, request) }, error, request, reply);
    for (const [method, handler] of Object.entries(handlers)) {
      app.route({
        method,
        url,
        bodyLimit,
        exposeHeadRoute: method === 'GET',
        onRequest: [
          ...(requestIdHeader === undefined ? [] : [sendRequestId(requestIdHeader)]),
          ...(open ? [] : [authenticate]),
        ],
        preHandler: [
          checkText,
          ...(checkHeaders === undefined ? [] : [async ({ headers }: FastifyRequest) => checkHeaders(headers)]),
        ],
        errorHandler,
        handler,
      });
    }
    const allowed = Object.keys(handlers).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    app.route({
      method: METHODS.filter((method) => !allowed.includes(method)),
      url,
      exposeHeadRoute: false,
      errorHandler,
      onRequest: (_request, reply) => {
        void reply.header('allow', allowed.join(', '));
        throw new GatewayError('method_not_allowed', 'The method is not allowed on this path.');
      },
      handler: () => undefined,
    });
  };
}

function sendRequestId(header: string): onRequestAsyncHookHandler {
  return async (request, reply) => {
    void reply.header(header, request.id);
  };
}
