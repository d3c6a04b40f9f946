import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RawReply } from '../../inference/forward.ts';
import type { RawRequest } from '../../inference/transport.ts';
import { errors } from '../../platform/errors.ts';
import { isRecord } from '../../platform/records.ts';
import { inferenceOf } from '../allowed-models.ts';
import { watchClient } from '../client-gone.ts';
import type { GatewayDeps } from '../deps.ts';
import type { JsonObject } from '../dialects/dialect.ts';
import { GatewayError } from '../gateway-error.ts';
import { findObject, listObjects } from '../store/objects.ts';
import type { ObjectKind } from '../store/objects.ts';
import type { ScriptStore } from './script-store.ts';

export const SCRIPT = 'script';

/** What the handlers of files and batches share. */
export type BatchDeps = { app: FastifyInstance; deps: GatewayDeps; scripts: ScriptStore };

export function readOrganization({ caller }: FastifyRequest): string {
  if (caller === undefined) throw errors.unauthorized();
  return caller.organizationId;
}

export function readId(request: FastifyRequest): string {
  return (request.params as { id: string }).id;
}

/** The provider of the object in the path. Throws `not_found` for an object of another organization. */
export async function requireObject(
  { deps }: BatchDeps,
  request: FastifyRequest,
  kind: ObjectKind,
  id = readId(request),
): Promise<{ id: string; provider: string }> {
  const provider = await findObject(deps.db, { organizationId: readOrganization(request), kind, id });
  if (provider === undefined)
    throw new GatewayError('not_found', `There is no ${kind.replace('_', ' ')} with this id.`);
  return { id, provider };
}

/** Sends one request to a provider. It ends when the client disconnects. */
export async function callProvider(
  { deps }: BatchDeps,
  reply: FastifyReply,
  provider: string,
  request: RawRequest,
): Promise<RawReply> {
  const watch = watchClient(reply.raw, deps.closing, deps.timing?.drainMs);
  try {
    const answer = await inferenceOf(deps, reply.request).request(provider, request, watch.signal);
    if (answer.requestId !== undefined) void reply.header('x-upstream-request-id', answer.requestId);
    return answer;
  } finally {
    watch.release();
  }
}

export function parseJson({ body }: RawReply): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    value = undefined;
  }
  if (!isRecord(value)) throw new GatewayError('upstream_error', 'The provider sent no JSON object.');
  return value;
}

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/**
 * Lists the organization's objects of a kind, newest first. `fetch` returns each as the client sees it, or undefined
 * if the provider no longer has it.
 */
export async function listOwn(
  { deps }: BatchDeps,
  request: FastifyRequest,
  kind: ObjectKind,
  fetch: (ref: { id: string; provider: string }) => Promise<JsonObject | undefined>,
): Promise<JsonObject> {
  const query = request.query as Record<string, unknown>;
  const wanted = Number(query['limit'] ?? DEFAULT_LIMIT);
  const limit = Number.isInteger(wanted) && wanted >= 1 ? Math.min(wanted, MAX_LIMIT) : DEFAULT_LIMIT;
  const after = query['after'] ?? query['after_id'];
  const page = { limit: limit + 1, after: typeof after === 'string' ? after : undefined };
  const found = await listObjects(deps.db, { organizationId: readOrganization(request), kind }, page);
  const refs = found.slice(0, limit);
  const data = (await Promise.all(refs.map(fetch))).filter((entry) => entry !== undefined);
  return {
    object: 'list',
    data,
    has_more: found.length > limit,
    first_id: refs[0]?.id ?? null,
    last_id: refs.at(-1)?.id ?? null,
  };
}

/** Runs one request of a batch on this gateway, with the caller's own credentials. */
export async function runOwn(
  { app }: BatchDeps,
  { headers }: FastifyRequest,
  call: { url: string; body: JsonObject },
): Promise<{ status: number; body: unknown; requestId: string }> {
  const sent = ['authorization', 'x-api-key', 'anthropic-version'].flatMap((name) =>
    typeof headers[name] === 'string' ? [[name, headers[name]] as const] : [],
  );
  const answer = await app.inject({
    method: 'POST',
    url: call.url,
    headers: { 'content-type': 'application/json', ...Object.fromEntries(sent) },
    payload: JSON.stringify(call.body),
  });
  return { status: answer.statusCode, body: answer.json(), requestId: String(answer.headers['x-request-id'] ?? '') };
}
