import type { z } from 'zod';
import type { FalConfig } from '../../contract/engines.ts';
import { RenderError } from '../engine.ts';
import type { Engine } from '../engine.ts';
import { buildCapabilities, buildTimeouts, getModel } from './capabilities.ts';
import { buildFailure, buildRefusal, findMember, findText, isModeration } from './engine-errors.ts';
import { prepareFiles, readDataUrl } from './files.ts';
import { runJob } from './job.ts';
import type { JobStatus, RemoteJob } from './job.ts';
import { fetchResult } from './result.ts';
import type { RemoteSetup } from './setup.ts';
import { buildValues, fillTemplate, buildFileReferences } from './template.ts';
import { buildTransport } from './transport.ts';
import type { Reply, Transport } from './transport.ts';

type Config = z.infer<typeof FalConfig>;

/** Models behind fal's queue API. The handle is the path of the request in the queue. */
export function openFal(name: string, config: Config, { egress, retryMs }: RemoteSetup): Engine {
  const waiting = buildTimeouts(config);
  const transport = buildTransport({ ...config, timeoutMs: waiting.timeoutMs, retryMs }, 'Key');
  const cancel = async (handle: string) => {
    await transport.call(`${handle}/cancel`, { method: 'PUT', effect: 'harmless' });
  };
  return {
    kind: 'fal',
    models: () => config.models.map((model) => buildCapabilities(name, model)),
    cancel,
    async render(request, context) {
      const model = getModel(name, config.models, request);
      const { signal } = context;
      const words =
        context.handle === undefined
          ? await buildFileReferences(await prepareFiles(request, signal), readDataUrl)
          : { ingredientImages: [], characterImages: [], referenceVideos: [] };
      const input = fillTemplate(model.input, buildValues(request, words, model.framesPerSecond));
      const job: RemoteJob<string> = {
        submit: () => submit(transport, model.id, input),
        look: (handle, looking) => look(transport, handle, model.output, looking),
        cancel,
      };
      const deadlineMs = model.deadlineSeconds * 1000;
      const url = await runJob(job, context, { pollMs: waiting.pollMs, deadlineMs });
      return await fetchResult({ url }, request, { transport, egress, maxBytes: config.maxBytes, ...waiting, signal });
    },
  };
}

async function submit(transport: Transport, model: string, json: unknown): Promise<string> {
  const reply = await transport.call(`/${model}`, { method: 'POST', json, effect: 'accepting' });
  const id = findText(reply.body, 'request_id');
  if (reply.status >= 300 || id === undefined) throw buildRefusal(reply, ...listErrorTexts(reply));
  // The queue addresses a request by owner and app, without the rest of the model's path.
  const told = transport.findPath(findMember(reply.body, 'status_url'))?.replace(/\/status(?:\?[^]*)?$/, '');
  const [owner = '', app = ''] = model.split('/');
  return told ?? `/${owner}/${app}/requests/${encodeURIComponent(id)}`;
}

async function look(
  transport: Transport,
  handle: string,
  output: string,
  signal: AbortSignal,
): Promise<JobStatus<string>> {
  const reply = await transport.call(`${handle}/status?logs=0`, { effect: 'harmless', signal });
  if (reply.status === 404) return { state: 'unknown' };
  const status = findText(reply.body, 'status');
  if (status === undefined || reply.status >= 300) throw buildRefusal(reply, ...listErrorTexts(reply));
  if (status === 'IN_QUEUE' || status === 'IN_PROGRESS') return { state: 'waiting' };
  const words = ['error', 'error_type'].map((path) => findText(reply.body, path));
  if (status !== 'COMPLETED' || words.some((word) => word !== undefined)) {
    return { state: 'failed', error: buildFailure(...words) };
  }
  const result = await transport.call(handle, { effect: 'harmless', signal });
  if (result.status >= 300) return { state: 'failed', error: describeRefusal(result) };
  const url = findText(result.body, output);
  if (url === undefined) throw new RenderError('engine_error', 'The engine finished without a result.');
  return { state: 'done', result: url };
}

/** fal reports a rejected request only at the URL of its result. */
function describeRefusal(reply: Reply): RenderError {
  const words = listErrorTexts(reply);
  return isModeration(...words) ? buildFailure(...words) : buildRefusal(reply);
}

function listErrorTexts({ body }: Reply): (string | undefined)[] {
  const detail = findMember(body, 'detail');
  const parts: unknown[] = Array.isArray(detail) ? detail : [];
  return [findText(body, 'detail'), ...parts.flatMap((part) => [findText(part, 'type'), findText(part, 'msg')])];
}
