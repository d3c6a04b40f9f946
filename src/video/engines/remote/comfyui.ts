import { readFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { ComfyUiConfig } from '../../contract/engines.ts';
import { RenderError } from '../engine.ts';
import type { Engine, RenderRequest } from '../engine.ts';
import { buildCapabilities, buildTimeouts, getModel } from './capabilities.ts';
import { buildFailure, buildRefusal, findMember, findText } from './engine-errors.ts';
import { prepareFiles, readBlob } from './files.ts';
import { runJob } from './job.ts';
import type { JobStatus, RemoteJob } from './job.ts';
import { fetchResult } from './result.ts';
import type { RemoteSetup } from './setup.ts';
import { buildValues, fillTemplate, buildFileReferences } from './template.ts';
import { buildTransport } from './transport.ts';
import type { Transport } from './transport.ts';

type Config = z.infer<typeof ComfyUiConfig>;
type Model = Config['models'][number];

/** A ComfyUI server with one workflow per model. The handle is the id of the prompt, which Capstan chooses. */
export function openComfyUi(name: string, config: Config, { egress, retryMs }: RemoteSetup): Engine {
  const waiting = buildTimeouts(config);
  const transport = buildTransport({ ...config, timeoutMs: waiting.timeoutMs, retryMs });
  const cancel = (handle: string) => stop(transport, handle);
  return {
    kind: 'comfyui',
    models: () => config.models.map((model) => buildCapabilities(name, model)),
    cancel,
    async render(request, context) {
      const model = getModel(name, config.models, request);
      const { signal } = context;
      // The handle is saved before the prompt is sent, so an earlier attempt may have been interrupted in between.
      const known = context.handle !== undefined && (await look(transport, context.handle, signal)).state !== 'unknown';
      const prompt = known ? {} : await buildPrompt(transport, model, request, signal);
      const job: RemoteJob<string> = {
        submit: (save) => submit(transport, prompt, context.handle ?? randomUUID(), save),
        look: (handle, looking) => look(transport, handle, looking),
        cancel,
      };
      const attended = { ...context, handle: known ? context.handle : undefined };
      const deadlineMs = model.deadlineSeconds * 1000;
      const path = await runJob(job, attended, { pollMs: waiting.pollMs, deadlineMs });
      return await fetchResult({ path }, request, { transport, egress, maxBytes: config.maxBytes, ...waiting, signal });
    },
  };
}

async function buildPrompt(
  transport: Transport,
  model: Model,
  request: RenderRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const files = await prepareFiles(request, signal);
  const words = await buildFileReferences(files, async (file) => {
    const form = new FormData();
    form.set('image', await readBlob(file), `capstan-${request.id}-${file.name}`);
    form.set('type', 'input');
    form.set('overwrite', 'true');
    const reply = await transport.call('/upload/image', { method: 'POST', form, effect: 'harmless', signal });
    const stored = findText(reply.body, 'name');
    if (reply.status >= 300 || stored === undefined) throw buildRefusal(reply);
    const folder = findText(reply.body, 'subfolder');
    return folder === undefined ? stored : `${folder}/${stored}`;
  });
  return fillTemplate(await readWorkflow(model), buildValues(request, words, model.framesPerSecond));
}

async function readWorkflow({ workflow, workflowFile }: Model): Promise<unknown> {
  if (workflowFile === undefined) return workflow;
  try {
    return JSON.parse(await readFile(workflowFile, 'utf8')) as unknown;
  } catch (cause) {
    throw new RenderError('engine_error', 'The workflow of this model cannot be read.', { cause });
  }
}

async function submit(
  transport: Transport,
  prompt: unknown,
  id: string,
  save: (handle: string) => Promise<void>,
): Promise<string> {
  await save(id);
  const json = { prompt, prompt_id: id, client_id: 'capstan' };
  const reply = await transport.call('/prompt', { method: 'POST', json, effect: 'accepting' });
  // Older servers choose the id.
  const given = findText(reply.body, 'prompt_id');
  const errors = findMember(reply.body, 'node_errors') ?? {};
  if (reply.status >= 300 || given === undefined || Object.keys(errors).length > 0) {
    throw buildRefusal(reply, findText(reply.body, 'error.message'));
  }
  return given;
}

async function look(transport: Transport, handle: string, signal: AbortSignal): Promise<JobStatus<string>> {
  const { body } = await transport.call(`/history/${encodeURIComponent(handle)}`, { effect: 'harmless', signal });
  const entry = findMember(body, handle);
  if (entry === undefined) {
    const queue = await transport.call('/queue', { effect: 'harmless', signal });
    const waits = ['queue_running', 'queue_pending'].some((list) => listIds(queue.body, list).includes(handle));
    if (waits) return { state: 'waiting' };
    // It may have moved from the queue to the history between the two requests.
    const again = await transport.call(`/history/${encodeURIComponent(handle)}`, { effect: 'harmless', signal });
    return findMember(again.body, handle) === undefined ? { state: 'unknown' } : { state: 'waiting' };
  }
  const status = findText(entry, 'status.status_str');
  if (status === 'error') return { state: 'failed', error: buildFailure(findProblem(entry)) };
  if (status !== undefined && findMember(entry, 'status.completed') === false) return { state: 'waiting' };
  const path = findOutput(findMember(entry, 'outputs'));
  if (path === undefined) {
    return { state: 'failed', error: new RenderError('engine_error', 'The workflow ended without a video.') };
  }
  return { state: 'done', result: path };
}

function findProblem(entry: unknown): string | undefined {
  const messages = findMember(entry, 'status.messages');
  const problem: unknown = Array.isArray(messages)
    ? messages.find((message) => findMember(message, '0') === 'execution_error')
    : undefined;
  return findText(problem, '1.exception_message');
}

/** The path from which the last video file of any node can be fetched. */
function findOutput(outputs: unknown): string | undefined {
  if (typeof outputs !== 'object' || outputs === null) return undefined;
  const files: unknown[] = Object.values(outputs).flatMap((node: unknown) =>
    ['images', 'gifs', 'videos', 'video'].flatMap((kind): unknown[] => {
      const list = findMember(node, kind);
      return Array.isArray(list) ? list : [];
    }),
  );
  const file = files.findLast((item) => /\.(mp4|webm|mkv|mov)$/i.test(findText(item, 'filename') ?? ''));
  if (file === undefined) return undefined;
  const query = new URLSearchParams({
    filename: findText(file, 'filename') ?? '',
    subfolder: findText(file, 'subfolder') ?? '',
    type: findText(file, 'type') ?? 'output',
  });
  return `/view?${query.toString()}`;
}

/** The ids in a list of the queue; an entry is `[number, id, …]`. */
function listIds(body: unknown, list: string): unknown[] {
  const entries = findMember(body, list);
  return Array.isArray(entries) ? entries.map((entry) => findMember(entry, '1')) : [];
}

async function stop(transport: Transport, handle: string): Promise<void> {
  await transport.call('/queue', { method: 'POST', json: { delete: [handle] }, effect: 'harmless' });
  const { body } = await transport.call('/queue', { effect: 'harmless' });
  // Older servers interrupt whatever prompt is running, so this one must be running.
  if (!listIds(body, 'queue_running').includes(handle)) return;
  await transport.call('/interrupt', { method: 'POST', json: { prompt_id: handle }, effect: 'harmless' });
}
