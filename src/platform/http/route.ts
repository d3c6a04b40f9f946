import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { listScopes } from '../contract/route.ts';
import type { Route, RouteInput } from '../contract/route.ts';
import type { Scope } from '../contract/keys.ts';
import { listAllFields, listIgnoredFields } from '../contract/ignored-fields.ts';
import { describeIssues, describePath } from '../contract/validation.ts';
import { errors } from '../errors.ts';
import { addWorkIds } from '../work-context.ts';
import { isRecord } from '../records.ts';
import type { Caller, HttpDeps } from './deps.ts';
import { nameIgnoredFields } from './ignored-fields.ts';
import { cutPath, findUnstorable } from './text.ts';

/** `hijacked`: the handler has answered by itself (streams). */
export type Answer = { status: number; body: unknown; headers?: Record<string, string> } | 'hijacked';

export type Call<R extends Route> = RouteInput<R> & { caller: Caller; request: FastifyRequest; reply: FastifyReply };

export type Handler<R extends Route> = (call: Call<R>) => Promise<Answer>;

const BODY_LIMIT = 1024 * 1024;

function parse<T>(schema: z.ZodType<T> | undefined, value: unknown, root: string): T | undefined {
  if (schema === undefined) return undefined;
  const result = schema.safeParse(value);
  if (!result.success) throw errors.validation(describeIssues(result.error, root, value));
  const unstorable = findUnstorable(value);
  if (unstorable !== undefined) {
    const path = describePath(cutPath(unstorable.path, result.data), root);
    throw errors.validation(`${path}: ${unstorable.reason}`);
  }
  return result.data;
}

/** An identifier that cannot exist is not found, like one that does not; other bad parameters are the caller's mistake. */
function parseParams(route: Route, value: unknown): Record<string, string> | undefined {
  if (route.params === undefined) return undefined;
  const result = route.params.safeParse(value);
  if (result.success) {
    if (findUnstorable(value) !== undefined) throw errors.notFound('resource');
    return result.data;
  }
  const names = result.error.issues.map((issue) => String(issue.path[0]));
  const missing = names.find((name) => name.endsWith('Id') && name !== 'subjectId');
  if (missing !== undefined) throw errors.notFound(missing.slice(0, -2));
  throw errors.validation(describeIssues(result.error, 'path', value));
}

function parseBody(route: Route, value: unknown): Record<string, unknown> | undefined {
  if (route.body === undefined) {
    if (value !== undefined && !isRecord(value)) throw errors.validation('body: must be of type object');
    return undefined;
  }
  if (value === undefined && route.bodyOptional === true) return undefined;
  if (value === undefined) throw errors.validation('body: is required');
  return parse(route.body, value, 'body');
}

function isStream(route: Route): boolean {
  return Object.values(route.responses).includes('stream');
}

/** `/v1/agents/{agentId}` as the server's router writes it. */
function routerPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function parseInput<R extends Route>(route: R, request: FastifyRequest): RouteInput<R> {
  return {
    params: parseParams(route, request.params),
    query: parse(route.query, request.query, 'query'),
    body: parseBody(route, request.body),
  } as RouteInput<R>;
}

function listIgnored(schema: z.ZodType | undefined, given: unknown): string[] {
  if (!isRecord(given)) return [];
  return schema === undefined ? listAllFields(given) : listIgnoredFields(schema, given);
}

/** Bodies with media types of their own are read by their operations. */
function reportIgnoredFields(route: Route, { query, body }: FastifyRequest, reply: FastifyReply): void {
  const parameters = listIgnored(route.query, query).map((name) => `?${name}`);
  const fields = route.media === undefined ? listIgnored(route.body, body) : [];
  nameIgnoredFields(reply, [...parameters, ...fields]);
}

function sendAnswer(reply: FastifyReply, answer: Answer): FastifyReply {
  if (answer === 'hijacked') return reply;
  return reply
    .code(answer.status)
    .headers(answer.headers ?? {})
    .send(answer.body);
}

/** Puts an operation on the server that needs no key. */
export function registerOpenRoute<R extends Route & { open: true }>(
  app: FastifyInstance,
  route: R,
  handler: (call: Omit<Call<R>, 'caller'>) => Promise<Answer>,
): void {
  app.route({
    method: route.method,
    url: routerPath(route.path),
    bodyLimit: route.bodyLimit ?? BODY_LIMIT,
    exposeHeadRoute: route.method === 'GET',
    handler: async (request, reply) => {
      const input = parseInput(route, request);
      reportIgnoredFields(route, request, reply);
      return sendAnswer(reply, await handler({ ...input, request, reply }));
    },
  });
}

/** Throws `forbidden` for a caller that has none of the scopes, where there are any. */
export function requireScope(caller: Pick<Caller, 'scopes'>, scopes: readonly Scope[]): void {
  const [first] = scopes;
  if (first !== undefined && !scopes.some((scope) => caller.scopes.includes(scope))) throw errors.missingScope(first);
}

/** Puts one operation of the contract on the server: key, scope, validation, rendering. Errors are thrown. */
export function registerRoute<R extends Route>(
  app: FastifyInstance,
  deps: Pick<HttpDeps, 'authenticate' | 'audit'>,
  route: R,
  handler: Handler<R>,
): void {
  const scopes = listScopes(route);
  app.route({
    method: route.method,
    url: routerPath(route.path),
    bodyLimit: route.bodyLimit ?? BODY_LIMIT,
    exposeHeadRoute: route.method === 'GET' && !isStream(route),
    onRequest: async (request, reply) => {
      const caller = await deps.authenticate(request, reply);
      requireScope(caller, scopes);
      request.caller = caller;
    },
    handler: async (request, reply) => {
      const { caller } = request;
      if (caller === undefined) throw errors.unauthorized();
      const input = parseInput(route, request);
      const sessionId = input.params?.['sessionId'];
      if (sessionId !== undefined) addWorkIds({ sessionId });
      const call = { ...input, caller, request, reply };
      reportIgnoredFields(route, request, reply);
      if (route.method === 'GET') return sendAnswer(reply, await handler(call));
      return sendAnswer(reply, await deps.audit.run(route, call, () => handler(call)));
    },
  });
}
