import type { z } from 'zod';
import { omitUndefined } from '../../../platform/records.ts';
import type { ReplicateConfig } from '../../contract/engines.ts';
import { RenderError } from '../engine.ts';
import type { Engine, RenderRequest } from '../engine.ts';
import { buildCapabilities, buildTimeouts, getModel } from './capabilities.ts';
import { buildFailure, buildRefusal, findMember, findText } from './engine-errors.ts';
import { prepareFiles, readBlob, readDataUrl } from './files.ts';
import type { SentFile } from './files.ts';
import { runJob } from './job.ts';
import type { JobStatus, RemoteJob } from './job.ts';
import { fetchResult } from './result.ts';
import type { RemoteSetup } from './setup.ts';
import { buildValues, fillTemplate, buildFileReferences } from './template.ts';
import { buildTransport } from './transport.ts';
import type { Transport } from './transport.ts';

type Config = z.infer<typeof ReplicateConfig>;

/** Files up to this size are sent inside the request; larger ones are uploaded first. */
const INLINE_BYTES = 256 * 1024;

/** Models behind Replicate's API. */
export function openReplicate(name: string, config: Config, { egress, retryMs }: RemoteSetup): Engine {
  const waiting = buildTimeouts(config);
  const transport = buildTransport({ ...config, timeoutMs: waiting.timeoutMs, retryMs });
  const cancel = async (handle: string) => {
    const path = `/predictions/${encodeURIComponent(handle)}/cancel`;
    await transport.call(path, { method: 'POST', effect: 'harmless' });
  };
  return {
    kind: 'replicate',
    models: () => config.models.map((model) => buildCapabilities(name, model)),
    cancel,
    async render(request, context) {
      const model = getModel(name, config.models, request);
      const { signal } = context;
      const input = context.handle === undefined ? await buildInput(transport, model, request, signal) : {};
      const job: RemoteJob<string> = {
        submit: () => submit(transport, model, input),
        look: (handle, looking) => look(transport, handle, looking),
        cancel,
      };
      const deadlineMs = model.deadlineSeconds * 1000;
      const url = await runJob(job, context, { pollMs: waiting.pollMs, deadlineMs });
      return await fetchResult({ url }, request, { transport, egress, maxBytes: config.maxBytes, ...waiting, signal });
    },
  };
}

async function buildInput(
  transport: Transport,
  model: Config['models'][number],
  request: RenderRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const files = await prepareFiles(request, signal);
  const words = await buildFileReferences(files, async (file) => {
    const blob = await readBlob(file);
    return blob.size <= INLINE_BYTES ? await readDataUrl(file) : await upload(transport, file, blob, signal);
  });
  return fillTemplate(model.input, buildValues(request, words, model.framesPerSecond));
}

async function upload(transport: Transport, file: SentFile, blob: Blob, signal: AbortSignal): Promise<string> {
  const form = new FormData();
  form.set('content', blob, file.name);
  const reply = await transport.call('/files', { method: 'POST', form, effect: 'harmless', signal });
  const url = findText(reply.body, 'urls.get');
  if (reply.status >= 300 || url === undefined) throw buildRefusal(reply);
  return url;
}

async function submit(transport: Transport, model: Config['models'][number], input: unknown): Promise<string> {
  const { version, id, deadlineSeconds } = model;
  const path = version === undefined ? `/models/${id}/predictions` : '/predictions';
  const json = version === undefined ? { input } : { version, input };
  // After the deadline the job must not cost any more.
  const headers = { 'cancel-after': `${Math.max(5, Math.min(86_400, Math.ceil(deadlineSeconds)))}s` };
  const reply = await transport.call(path, { method: 'POST', json, headers, effect: 'accepting' });
  const handle = findText(reply.body, 'id');
  if (reply.status >= 300 || handle === undefined) {
    throw buildRefusal(reply, findText(reply.body, 'detail'), findText(reply.body, 'title'));
  }
  return handle;
}

async function look(transport: Transport, handle: string, signal: AbortSignal): Promise<JobStatus<string>> {
  const reply = await transport.call(`/predictions/${encodeURIComponent(handle)}`, { effect: 'harmless', signal });
  if (reply.status === 404) return { state: 'unknown' };
  const status = findText(reply.body, 'status');
  if (reply.status >= 300 || status === undefined) throw buildRefusal(reply);
  if (status === 'succeeded') return { state: 'done', result: getOutput(reply.body) };
  if (status === 'failed') return { state: 'failed', error: buildFailure(findText(reply.body, 'error')) };
  if (status === 'canceled' || status === 'aborted') {
    return { state: 'failed', error: new RenderError('engine_error', 'The job was cancelled at the engine.') };
  }
  const progress = readProgress(findText(reply.body, 'logs') ?? '');
  return { state: 'waiting', ...omitUndefined({ progress }) };
}

/** The last URL of the output, which may be a URL, a list, or an object with URLs. */
function getOutput(body: unknown): string {
  const output = findMember(body, 'output');
  const found = [output, ...(typeof output === 'object' && output !== null ? Object.values(output) : [])].findLast(
    (item): item is string => typeof item === 'string' && /^https?:/.test(item),
  );
  if (found === undefined) throw new RenderError('engine_error', 'The engine finished without a result.');
  return found;
}

/** Reads the progress from the progress bars in a model's logs: `45%|████`. */
function readProgress(logs: string): number | undefined {
  const percent = logs.match(/(\d{1,3})%\|/g)?.at(-1);
  return percent === undefined ? undefined : Math.min(100, Number.parseInt(percent, 10)) / 100;
}
