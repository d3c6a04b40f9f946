import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RawReply } from '../../inference/forward.ts';
import { isRecord } from '../../platform/records.ts';
import type { JsonObject } from '../dialects/dialect.ts';
import { readOptionalText } from '../dialects/fields.ts';
import { OPENAI_FORMATS } from '../endpoints/endpoint.ts';
import type { EndpointFile } from '../endpoints/endpoint.ts';
import { buildForm, readForm } from '../endpoints/form.ts';
import { inferenceOf, mayUse } from '../allowed-models.ts';
import { GatewayError, invalid, unknownModel } from '../gateway-error.ts';
import { addObject, deleteObject } from '../store/objects.ts';
import { SCRIPT, callProvider, listOwn, parseJson, readOrganization, requireObject, sendForeign } from './context.ts';
import type { BatchDeps } from './context.ts';

/** Lines of a batch file. */
const MAX_LINES = 50_000;

/** The requests of a batch file. Throws `invalid_request` with the line at fault. */
export function readLines(bytes: Uint8Array): JsonObject[] {
  const lines = Buffer.from(bytes).toString('utf8').split('\n');
  if (lines.length > MAX_LINES + 1) throw invalid('file', `must have at most ${MAX_LINES} lines`);
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      value = undefined;
    }
    if (isRecord(value) && isRecord(value['body'])) return [value];
    throw invalid('file', `line ${index + 1} must be a JSON object with a body`);
  });
}

/** `<provider>/<id>` of a request of a batch. */
export function splitModel(request: FastifyRequest, model: unknown, path: string): { provider: string; id: string } {
  const [, provider, id] = (typeof model === 'string' ? /^([^/]+)\/(.+)$/.exec(model) : undefined) ?? [];
  if (provider === undefined || id === undefined) throw invalid(path, 'must be <provider>/<id>');
  if (!mayUse(request, `${provider}/${id}`)) throw unknownModel(`${provider}/${id}`);
  return { provider, id };
}

/** The provider of all models in a batch file, and the file with that provider's own model names. */
function translateBatchFile(request: FastifyRequest, file: EndpointFile): { provider: string; file: EndpointFile } {
  const lines = readLines(file.bytes);
  const models = lines.map(({ body }, index) =>
    splitModel(request, (body as JsonObject)['model'], `file line ${index + 1}: model`),
  );
  const providers = new Set(models.map(({ provider }) => provider));
  const [provider] = providers;
  if (provider === undefined) throw invalid('file', 'must not be empty');
  if (providers.size > 1) throw invalid('file', 'all models of a batch must be of one provider');
  if (provider === SCRIPT) return { provider, file };
  const text = lines.map((line, index) =>
    JSON.stringify({ ...line, body: { ...(line['body'] as JsonObject), model: models[index]?.id } }),
  );
  return { provider, file: { ...file, bytes: Buffer.from(`${text.join('\n')}\n`) } };
}

function requireProvider({ deps }: BatchDeps, request: FastifyRequest, provider: string): void {
  if (provider === SCRIPT) return;
  const format = inferenceOf(deps, request).findProviderFormat(provider);
  if (format === undefined)
    throw new GatewayError('model_not_found', 'The provider is not configured.', { param: 'model' });
  if (!OPENAI_FORMATS.includes(format))
    throw invalid('provider', 'this provider has no files and batches of this format');
}

/** The provider of a file without models: the field `provider`, else `openai`, else `script`. */
function chooseProvider({ deps }: BatchDeps, request: FastifyRequest, fields: JsonObject): string {
  const named = readOptionalText(fields['provider'], 'provider');
  if (named !== undefined) return named;
  return inferenceOf(deps, request).findProviderFormat('openai') === undefined ? SCRIPT : 'openai';
}

/** `POST /v1/files`. */
export async function createFile(
  context: BatchDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<JsonObject> {
  const input = await readForm(request.body, request.headers['content-type'] ?? '');
  const { provider: _provider, ...fields } = input.fields;
  const uploaded = input.files.find(({ field }) => field === 'file');
  if (uploaded === undefined) throw invalid('file', 'is required');
  const { provider, file } =
    fields['purpose'] === 'batch'
      ? translateBatchFile(request, uploaded)
      : { provider: chooseProvider(context, request, input.fields), file: uploaded };
  requireProvider(context, request, provider);
  const organizationId = readOrganization(request);
  let body: JsonObject;
  if (provider === SCRIPT) {
    body = addScriptFile(context, file.name, {
      purpose: readOptionalText(fields['purpose'], 'purpose') ?? 'user_data',
      content: file.bytes,
    });
  } else {
    const { type, data } = await buildForm({ fields, files: [file] }, {});
    const sent = { method: 'POST' as const, path: '/files', headers: { 'content-type': type }, body: data };
    body = parseJson(await callProvider(context, reply, provider, sent));
  }
  await addObject(context.deps.db, { organizationId, kind: 'file', id: String(body['id']) }, provider);
  return body;
}

export function addScriptFile(
  { scripts }: BatchDeps,
  filename: string,
  { purpose, content }: { purpose: string; content: Uint8Array },
): JsonObject {
  const build = (id: string) => ({
    body: {
      id,
      object: 'file',
      bytes: content.length,
      created_at: Math.floor(Date.now() / 1000),
      filename,
      purpose,
      status: 'processed',
    },
    content,
  });
  return scripts.add('file-', build).body;
}

async function fetchFile(
  context: BatchDeps,
  reply: FastifyReply,
  { id, provider }: { id: string; provider: string },
): Promise<JsonObject | undefined> {
  if (provider === SCRIPT) return context.scripts.get(id)?.body;
  const path = `/files/${encodeURIComponent(id)}`;
  return parseJson(await callProvider(context, reply, provider, { method: 'GET', path, headers: {} }));
}

const gone = () => new GatewayError('not_found', 'The file is gone.');

/** `GET /v1/files/{id}`. */
export async function getFile(context: BatchDeps, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  const found = await fetchFile(context, reply, await requireObject(context, request, 'file'));
  if (found === undefined) throw gone();
  return found;
}

/** `GET /v1/files?purpose=`. Files that the provider no longer has are left out. */
export function listFiles(context: BatchDeps, request: FastifyRequest, reply: FastifyReply): Promise<JsonObject> {
  const { purpose } = request.query as Record<string, unknown>;
  return listOwn(context, request, 'file', async (ref) => {
    const found = await fetchFile(context, reply, ref).catch(() => undefined);
    return purpose === undefined || found?.['purpose'] === purpose ? found : undefined;
  });
}

/** The content of a file of a provider. */
export function readFileContent(
  context: BatchDeps,
  reply: FastifyReply,
  { id, provider }: { id: string; provider: string },
): Promise<RawReply> {
  const path = `/files/${encodeURIComponent(id)}/content`;
  return callProvider(context, reply, provider, { method: 'GET', path, headers: {} });
}

/** `GET /v1/files/{id}/content`. */
export async function getFileContent(context: BatchDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { id, provider } = await requireObject(context, request, 'file');
  if (provider === SCRIPT) {
    const content = context.scripts.get(id)?.content;
    if (content === undefined) throw gone();
    await sendForeign(reply, 'application/octet-stream', Buffer.from(content));
    return;
  }
  const answer = await readFileContent(context, reply, { id, provider });
  await sendForeign(reply, answer.contentType, answer.body);
}

/** `DELETE /v1/files/{id}`. */
export async function deleteFile(
  context: BatchDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<JsonObject> {
  const { id, provider } = await requireObject(context, request, 'file');
  if (provider === SCRIPT) context.scripts.delete(id);
  else {
    const path = `/files/${encodeURIComponent(id)}`;
    await callProvider(context, reply, provider, { method: 'DELETE', path, headers: {} });
  }
  await deleteObject(context.deps.db, { organizationId: readOrganization(request), kind: 'file', id });
  return { id, object: 'file', deleted: true };
}
