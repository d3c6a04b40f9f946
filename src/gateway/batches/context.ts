import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RawReply } from '../../inference/forward.ts';
import type { RawRequest } from '../../inference/transport.ts';
import { errors } from '../../platform/errors.ts';
import { findUnstorable } from '../../platform/http/text.ts';
import { isRecord } from '../../platform/records.ts';
import { inferenceOf } from '../allowed-models.ts';
import { watchClient } from '../client-gone.ts';
import type { GatewayDeps } from '../deps.ts';
import type { JsonObject } from '../dialects/dialect.ts';
import { GatewayError, invalid } from '../gateway-error.ts';
import { findObject, isKnownObject, listObjects } from '../store/objects.ts';
import type { ObjectKind, ObjectRef } from '../store/objects.ts';
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
  const ref = { organizationId: readOrganization(request), kind, id };
  const provider = findUnstorable(id) === undefined ? await findObject(deps.db, ref) : undefined;
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

/**
 * Before a batch goes to a provider, which runs its requests out of the gateway's sight. `param`: the field with the
 * requests. Throws a `GatewayError` where hooks would have to see the requests, or a budget of the caller is used up.
 */
export async function admitBatch({ deps }: BatchDeps, { caller }: FastifyRequest, param: string): Promise<void> {
  if (caller === undefined) throw errors.unauthorized();
  if (deps.hooks !== undefined) {
    throw invalid(param, 'a provider would run the batch, where the hooks of this gateway do not see its requests');
  }
  await deps.usage.budget?.check(caller);
  const reservation = await deps.budgets.reserve(caller, () => 0);
  await reservation?.settle(0);
}

/** A browser must not run what a provider or another caller has written as a page of this server. */
const FOREIGN = { 'content-security-policy': "sandbox; default-src 'none'", 'x-content-type-options': 'nosniff' };

/** Sends bytes that others have written. */
export async function sendForeign(reply: FastifyReply, type: string, body: string | Uint8Array): Promise<void> {
  await reply.type(type).headers(FOREIGN).send(body);
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
/** How often one request looks for more objects because some are not shown. */
const MAX_ROUNDS = 10;

type Query = Record<string, unknown>;

function readLimit({ limit }: Query): number {
  if (limit === undefined) return DEFAULT_LIMIT;
  const wanted = typeof limit === 'string' && /^\d{1,9}$/.test(limit) ? Number(limit) : 0;
  if (wanted < 1) throw invalid('query.limit', 'must be a whole number of 1 or more');
  return Math.min(wanted, MAX_LIMIT);
}

/** The object next to which the page begins: `after` and `after_id` go on to older ones, `before_id` to newer ones. */
async function readPosition({ deps }: BatchDeps, owner: Omit<ObjectRef, 'id'>, query: Query) {
  const [name, ...others] = ['after', 'after_id', 'before_id'].filter((each) => query[each] !== undefined);
  if (others.length > 0) throw invalid(`query.${others[0]}`, `must not be sent together with ${name}`);
  const id = name === undefined ? undefined : query[name];
  if (name !== undefined && !(typeof id === 'string' && (await isKnownObject(deps.db, { ...owner, id })))) {
    throw invalid(`query.${name}`, 'must be the id of an entry of this list');
  }
  return { at: typeof id === 'string' ? id : undefined, isNewer: name === 'before_id' };
}

/**
 * Lists the organization's objects of a kind, newest first. `fetch` returns each as the client sees it, or undefined
 * if it is not shown: the provider no longer has it, or the client did not ask for such.
 */
export async function listOwn(
  context: BatchDeps,
  request: FastifyRequest,
  kind: ObjectKind,
  fetch: (ref: { id: string; provider: string }) => Promise<JsonObject | undefined>,
): Promise<JsonObject> {
  const query = request.query as Query;
  const limit = readLimit(query);
  const owner = { organizationId: readOrganization(request), kind };
  const { at: start, isNewer } = await readPosition(context, owner, query);
  let at = start;
  const data: JsonObject[] = [];
  let hasMore = true;
  for (let round = 0; hasMore && data.length < limit && round < MAX_ROUNDS; round += 1) {
    const size = round === 0 ? limit : Math.max(limit, DEFAULT_LIMIT);
    const found = await listObjects(context.deps.db, owner, { limit: size + 1, at, isNewer });
    const refs = found.slice(0, size);
    at = refs.at(-1)?.id ?? at;
    const shown = (await Promise.all(refs.map(fetch))).filter((entry) => entry !== undefined);
    hasMore = found.length > size || data.length + shown.length > limit;
    data.push(...shown.slice(0, limit - data.length));
  }
  if (isNewer) data.reverse();
  return {
    object: 'list',
    data,
    has_more: hasMore,
    first_id: data[0]?.['id'] ?? null,
    last_id: data.at(-1)?.['id'] ?? null,
  };
}

function omitStream({ stream: _stream, stream_options: _options, ...body }: JsonObject): JsonObject {
  return body;
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
    // The results of a batch are whole responses, whatever its requests ask for.
    payload: JSON.stringify(omitStream(call.body)),
  });
  return { status: answer.statusCode, body: answer.json(), requestId: String(answer.headers['x-request-id'] ?? '') };
}
