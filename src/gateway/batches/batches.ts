import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { readBody } from '../body.ts';
import type { JsonObject } from '../dialects/dialect.ts';
import { readName } from '../dialects/fields.ts';
import { GatewayError, invalid } from '../gateway-error.ts';
import { addObject } from '../store/objects.ts';
import {
  SCRIPT,
  admitBatch,
  callProvider,
  listOwn,
  parseJson,
  readOrganization,
  requireObject,
  runOwn,
} from './context.ts';
import type { BatchDeps } from './context.ts';
import { addScriptFile, readFileContent, readLines, splitModel } from './files.ts';

/** Maximum number of requests in a batch of script models, which runs at once. */
const MAX_SCRIPT_REQUESTS = 200;
/** Characters of the output of such a batch, which is kept in memory. */
const MAX_OUTPUT = 32 * 1024 * 1024;

const ENDPOINTS = ['/v1/chat/completions', '/v1/responses', '/v1/embeddings', '/v1/completions', '/v1/moderations'];

/** Runs the requests of a file one after the other. Returns the lines of its output. */
async function runScriptBatch(context: BatchDeps, request: FastifyRequest, content: Uint8Array, url: string) {
  const lines = readLines(content);
  if (lines.length > MAX_SCRIPT_REQUESTS)
    throw invalid('input_file_id', `must have at most ${MAX_SCRIPT_REQUESTS} lines`);
  const output: string[] = [];
  let failed = 0;
  let size = 0;
  for (const line of lines) {
    const { status, body, requestId } = await runOwn(context, request, { url, body: line['body'] as JsonObject });
    if (status !== 200) failed += 1;
    const response = { status_code: status, request_id: requestId, body };
    const id = `batch_req_${randomUUID().replaceAll('-', '')}`;
    const text = JSON.stringify({ id, custom_id: line['custom_id'] ?? null, response, error: null });
    size += text.length;
    if (size > MAX_OUTPUT) throw invalid('input_file_id', `must have an output of at most ${MAX_OUTPUT} characters`);
    output.push(text);
  }
  return {
    output: `${output.join('\n')}\n`,
    counts: { total: lines.length, completed: lines.length - failed, failed },
  };
}

async function createScriptBatch(
  context: BatchDeps,
  request: FastifyRequest,
  { body, fileId, endpoint }: { body: JsonObject; fileId: string; endpoint: string },
): Promise<JsonObject> {
  const content = context.scripts.get(fileId)?.content;
  if (content === undefined) throw new GatewayError('not_found', 'The file is gone.', { param: 'input_file_id' });
  const created = Math.floor(Date.now() / 1000);
  const { output, counts } = await runScriptBatch(context, request, content, endpoint);
  const file = addScriptFile(context, 'output.jsonl', { purpose: 'batch_output', content: Buffer.from(output) });
  const organizationId = readOrganization(request);
  await addObject(context.deps.db, { organizationId, kind: 'file', id: String(file['id']) }, SCRIPT);
  const now = Math.floor(Date.now() / 1000);
  return context.scripts.add('batch_', (id) => ({
    body: {
      id,
      object: 'batch',
      endpoint,
      input_file_id: fileId,
      completion_window: body['completion_window'] ?? '24h',
      status: 'completed',
      output_file_id: file['id'],
      error_file_id: null,
      errors: null,
      created_at: created,
      in_progress_at: created,
      finalizing_at: now,
      completed_at: now,
      expires_at: now + 86_400,
      request_counts: counts,
      metadata: body['metadata'] ?? null,
    },
  })).body;
}

/** The file may have been uploaded with a key that has more models. Throws `model_not_found` for one of those. */
async function requireModels(
  context: BatchDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  file: { id: string; provider: string },
): Promise<void> {
  if ((request.caller?.models ?? null) === null) return;
  const { body } = await readFileContent(context, reply, file);
  for (const line of readLines(body)) {
    const { model } = line['body'] as JsonObject;
    splitModel(request, `${file.provider}/${String(model)}`, 'input_file_id');
  }
}

/** `POST /v1/batches`. A batch goes to the provider of its file. */
export async function createBatch(
  context: BatchDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<JsonObject> {
  const body = readBody(request);
  const fileId = readName(body['input_file_id'], 'input_file_id');
  const endpoint = readName(body['endpoint'], 'endpoint');
  if (!ENDPOINTS.includes(endpoint)) throw invalid('endpoint', `must be one of ${ENDPOINTS.join(', ')}`);
  const { provider } = await requireObject(context, request, 'file', fileId);
  if (provider !== SCRIPT) {
    await admitBatch(context, request, 'input_file_id');
    await requireModels(context, request, reply, { id: fileId, provider });
  }
  const batch =
    provider === SCRIPT
      ? await createScriptBatch(context, request, { body, fileId, endpoint })
      : parseJson(
          await callProvider(context, reply, provider, {
            method: 'POST',
            path: '/batches',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(body),
          }),
        );
  const organizationId = readOrganization(request);
  await addObject(context.deps.db, { organizationId, kind: 'batch', id: String(batch['id']) }, provider);
  return batch;
}

/** Files written by a batch belong to its organization. */
async function fetchBatch(
  context: BatchDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { id, provider, cancel = false }: { id: string; provider: string; cancel?: boolean },
): Promise<JsonObject | undefined> {
  if (provider === SCRIPT) return context.scripts.get(id)?.body;
  const path = `/batches/${encodeURIComponent(id)}${cancel ? '/cancel' : ''}`;
  const method = cancel ? ('POST' as const) : ('GET' as const);
  const batch = parseJson(await callProvider(context, reply, provider, { method, path, headers: {} }));
  const organizationId = readOrganization(request);
  for (const field of ['output_file_id', 'error_file_id']) {
    const file = batch[field];
    if (typeof file !== 'string') continue;
    await addObject(context.deps.db, { organizationId, kind: 'file', id: file }, provider);
  }
  return batch;
}

/** `GET /v1/batches/{id}` and, with `cancel`, `POST /v1/batches/{id}/cancel`. */
export async function getBatch(
  context: BatchDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  cancel = false,
): Promise<JsonObject> {
  const ref = await requireObject(context, request, 'batch');
  const batch = await fetchBatch(context, request, reply, { ...ref, cancel });
  if (batch === undefined) throw new GatewayError('not_found', 'The batch is gone.');
  return batch;
}

/** `GET /v1/batches`. */
export function listBatches(context: BatchDeps, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  return listOwn(context, request, 'batch', (ref) => fetchBatch(context, request, reply, ref).catch(() => undefined));
}
