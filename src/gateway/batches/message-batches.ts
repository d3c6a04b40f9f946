import { inferenceOf } from '../allowed-models.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isRecord } from '../../platform/records.ts';
import { readBody } from '../body.ts';
import type { JsonObject } from '../dialects/dialect.ts';
import { readList, readName, readObject } from '../dialects/fields.ts';
import { GatewayError, invalid } from '../gateway-error.ts';
import { addObject, deleteObject } from '../store/objects.ts';
import {
  SCRIPT,
  admitBatch,
  callProvider,
  listOwn,
  parseJson,
  readOrganization,
  requireObject,
  runOwn,
  sendForeign,
} from './context.ts';
import type { BatchDeps } from './context.ts';
import { splitModel } from './files.ts';

const MAX_SCRIPT_REQUESTS = 200;
const PATH = '/messages/batches';

type Entry = { customId: string; params: JsonObject; provider: string; id: string };

function readEntries(request: FastifyRequest, body: JsonObject): Entry[] {
  const items = readList(body['requests'], 'requests');
  if (items.length === 0) throw invalid('requests', 'must not be empty');
  const seen = new Set<string>();
  return items.map((value, index) => {
    const item = readObject(value, `requests.${index}`);
    const params = readObject(item['params'], `requests.${index}.params`);
    const customId = readName(item['custom_id'], `requests.${index}.custom_id`);
    if (seen.has(customId)) throw invalid(`requests.${index}.custom_id`, 'must be unique');
    seen.add(customId);
    return { customId, params, ...splitModel(request, params['model'], `requests.${index}.params.model`) };
  });
}

/** The results of a batch are read from this gateway, not from the provider. */
function withOwnResults({ deps }: BatchDeps, request: FastifyRequest, batch: JsonObject): JsonObject {
  if (typeof batch['results_url'] !== 'string') return batch;
  const base = deps.publicUrl ?? `${request.protocol}://${request.host}`;
  return { ...batch, results_url: `${base}/v1${PATH}/${encodeURIComponent(String(batch['id']))}/results` };
}

async function runScript(context: BatchDeps, request: FastifyRequest, entries: readonly Entry[]): Promise<JsonObject> {
  if (entries.length > MAX_SCRIPT_REQUESTS) throw invalid('requests', `must have at most ${MAX_SCRIPT_REQUESTS} items`);
  const lines: string[] = [];
  let succeeded = 0;
  const created = new Date().toISOString();
  for (const { customId, params } of entries) {
    const answer = await runOwn(context, request, { url: '/v1/messages', body: params });
    const ok = answer.status === 200;
    if (ok) succeeded += 1;
    const result = ok ? { type: 'succeeded', message: answer.body } : { type: 'errored', error: answer.body };
    lines.push(JSON.stringify({ custom_id: customId, result }));
  }
  const counts = { processing: 0, succeeded, errored: entries.length - succeeded, canceled: 0, expired: 0 };
  return context.scripts.add('msgbatch_', (id) => ({
    results: `${lines.join('\n')}\n`,
    body: {
      id,
      type: 'message_batch',
      processing_status: 'ended',
      request_counts: counts,
      ended_at: new Date().toISOString(),
      created_at: created,
      expires_at: new Date(Date.now() + 86_400_000).toISOString(),
      archived_at: null,
      cancel_initiated_at: null,
      results_url: '',
    },
  })).body;
}

/** `POST /v1/messages/batches`. All models must be of one provider, which speaks the messages format. */
export async function createMessageBatch(
  context: BatchDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<JsonObject> {
  const entries = readEntries(request, readBody(request));
  const [provider = SCRIPT, ...others] = new Set(entries.map((entry) => entry.provider));
  if (others.length > 0) throw invalid('requests', 'all models of a batch must be of one provider');
  let batch: JsonObject;
  if (provider === SCRIPT) batch = await runScript(context, request, entries);
  else {
    const format = inferenceOf(context.deps, request).findProviderFormat(provider);
    if (format === undefined) throw new GatewayError('model_not_found', 'The provider is not configured.');
    if (format !== 'messages') throw invalid('requests', 'the provider of these models has no batches of this format');
    await admitBatch(context, request, 'requests');
    const requests = entries.map(({ customId, params, id }) => ({
      custom_id: customId,
      params: { ...params, model: id },
    }));
    const sent = {
      method: 'POST' as const,
      path: PATH,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ requests }),
    };
    batch = parseJson(await callProvider(context, reply, provider, sent));
  }
  const organizationId = readOrganization(request);
  await addObject(context.deps.db, { organizationId, kind: 'message_batch', id: String(batch['id']) }, provider);
  return withOwnResults(context, request, batch);
}

type Action = '' | '/cancel';

async function fetchBatch(
  context: BatchDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { id, provider, action = '' }: { id: string; provider: string; action?: Action },
): Promise<JsonObject | undefined> {
  if (provider === SCRIPT) {
    const found = context.scripts.get(id)?.body;
    return found && withOwnResults(context, request, found);
  }
  const path = `${PATH}/${encodeURIComponent(id)}${action}`;
  const method = action === '' ? ('GET' as const) : ('POST' as const);
  const batch = parseJson(await callProvider(context, reply, provider, { method, path, headers: {} }));
  return withOwnResults(context, request, batch);
}

const gone = () => new GatewayError('not_found', 'The batch is gone.');

/** `GET /v1/messages/batches/{id}` and `POST /v1/messages/batches/{id}/cancel`. */
export async function getMessageBatch(
  context: BatchDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  action: Action = '',
): Promise<JsonObject> {
  const ref = await requireObject(context, request, 'message_batch');
  const batch = await fetchBatch(context, request, reply, { ...ref, action });
  if (batch === undefined) throw gone();
  return batch;
}

/** `GET /v1/messages/batches`. */
export function listMessageBatches(
  context: BatchDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<JsonObject> {
  return listOwn(context, request, 'message_batch', (ref) =>
    fetchBatch(context, request, reply, ref).catch(() => undefined),
  );
}

/** `GET /v1/messages/batches/{id}/results`: JSON lines. */
export async function getMessageResults(
  context: BatchDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const { id, provider } = await requireObject(context, request, 'message_batch');
  if (provider === SCRIPT) {
    const results = context.scripts.get(id)?.results;
    if (results === undefined) throw gone();
    await sendForeign(reply, 'application/x-jsonl', results);
    return;
  }
  const path = `${PATH}/${encodeURIComponent(id)}/results`;
  const answer = await callProvider(context, reply, provider, { method: 'GET', path, headers: {} });
  await sendForeign(reply, answer.contentType, answer.body);
}

/** `DELETE /v1/messages/batches/{id}`. */
export async function deleteMessageBatch(
  context: BatchDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<JsonObject> {
  const { id, provider } = await requireObject(context, request, 'message_batch');
  if (provider === SCRIPT) context.scripts.delete(id);
  else {
    const path = `${PATH}/${encodeURIComponent(id)}`;
    const answer = await callProvider(context, reply, provider, { method: 'DELETE', path, headers: {} });
    if (!isRecord(parseJson(answer))) throw gone();
  }
  await deleteObject(context.deps.db, { organizationId: readOrganization(request), kind: 'message_batch', id });
  return { id, type: 'message_batch_deleted' };
}
