import type { z } from 'zod';
import { OpenAiVideosConfig } from '../../contract/engines.ts';
import type { Engine, RenderRequest } from '../engine.ts';
import { buildCapabilities, buildTimeouts, getModel } from './capabilities.ts';
import { buildFailure, buildRefusal, findMember, findText } from './engine-errors.ts';
import { prepareFiles, readBlob, readDataUrl } from './files.ts';
import type { SentFiles } from './files.ts';
import { runJob } from './job.ts';
import type { JobStatus, RemoteJob } from './job.ts';
import { fetchResult } from './result.ts';
import type { RemoteSetup } from './setup.ts';
import { buildTransport } from './transport.ts';
import type { Transport } from './transport.ts';

type Config = z.infer<typeof OpenAiVideosConfig>;
type Model = NonNullable<Config['models']>[number];

/** How long the model list is cached; if a fetch fails, the last list stays in use. */
const MODELS_FRESH_MS = 60_000;

/** Engines with the API `/v1/videos`: OpenAI, vLLM-Omni, SGLang, LocalAI and gateways in front of them. */
export function openOpenAiVideos(name: string, config: Config, { egress, retryMs }: RemoteSetup): Engine {
  const waiting = buildTimeouts(config);
  const transport = buildTransport({ ...config, timeoutMs: waiting.timeoutMs, retryMs });
  const findModels =
    config.models === undefined ? rememberModels(transport) : () => Promise.resolve(config.models ?? []);
  const cancel = async (handle: string) => {
    await transport.call(`/videos/${encodeURIComponent(handle)}`, { method: 'DELETE', effect: 'harmless' });
  };
  return {
    kind: 'openai-videos',
    models: async () => (await findModels()).map((model) => buildCapabilities(name, model)),
    cancel,
    async render(request, context) {
      const model = getModel(name, await findModels(), request);
      const { signal } = context;
      const files = context.handle === undefined ? await prepareFiles(request, signal) : undefined;
      const job: RemoteJob<string> = {
        submit: () => submit(transport, config, { model, request, files }),
        look: (handle, looking) => look(transport, handle, looking),
        cancel,
      };
      const deadlineMs = model.deadlineSeconds * 1000;
      const id = await runJob(job, context, { pollMs: waiting.pollMs, deadlineMs });
      const place = { path: `/videos/${encodeURIComponent(id)}/content` };
      return await fetchResult(place, request, { transport, egress, maxBytes: config.maxBytes, ...waiting, signal });
    },
  };
}

async function submit(
  transport: Transport,
  config: Config,
  { model, request, files }: { model: Model; request: RenderRequest; files: SentFiles | undefined },
): Promise<string> {
  const fields: Record<string, string> = {
    model: model.id,
    prompt: request.prompt,
    seconds: String(request.durationSeconds),
    size: `${request.width}x${request.height}`,
  };
  const call = config.dialect === 'json' ? { json: fields } : { form: await buildForm(config, fields, request, files) };
  // Engines that support idempotency keys start only one job per generation.
  const headers = { 'idempotency-key': request.id };
  const reply = await transport.call('/videos', { method: 'POST', effect: 'accepting', headers, ...call });
  const id = findText(reply.body, 'id');
  if (reply.status >= 300 || id === undefined) {
    throw buildRefusal(reply, findText(reply.body, 'error.code'), findText(reply.body, 'error.message'));
  }
  return id;
}

async function buildForm(
  { dialect, framesPerSecond }: Config,
  fields: Record<string, string>,
  request: RenderRequest,
  files: SentFiles | undefined,
): Promise<FormData> {
  const form = new FormData();
  for (const [key, value] of Object.entries(fields)) form.set(key, value);
  const first = files?.startFrame ?? files?.ingredientImages[0] ?? files?.characterImages[0];
  if (first !== undefined) form.set('input_reference', await readBlob(first), first.name);
  if (dialect === 'vllm-omni') await addOmniFields(form, framesPerSecond, request, files);
  return form;
}

/** The fields that vLLM-Omni accepts in addition to OpenAI's. */
async function addOmniFields(
  form: FormData,
  framesPerSecond: number,
  request: RenderRequest,
  files: SentFiles | undefined,
): Promise<void> {
  const more = {
    width: request.width,
    height: request.height,
    num_frames: request.durationSeconds * framesPerSecond,
    fps: framesPerSecond,
    seed: request.seed,
    generate_sound: request.hasAudio,
  };
  for (const [key, value] of Object.entries(more)) form.set(key, String(value));
  const [clip] = files?.referenceVideos ?? [];
  if (clip !== undefined) form.set('video_reference', JSON.stringify({ video_url: await readDataUrl(clip) }));
  if (files?.audio !== undefined) {
    form.set('audio_reference', JSON.stringify({ audio_url: await readDataUrl(files.audio) }));
  }
  if (files?.sourceVideo !== undefined) {
    form.set('source_video', await readBlob(files.sourceVideo), files.sourceVideo.name);
  }
}

async function look(transport: Transport, handle: string, signal: AbortSignal): Promise<JobStatus<string>> {
  let reply = await transport.call(`/videos/${encodeURIComponent(handle)}`, { effect: 'harmless', signal });
  if (reply.status === 405) reply = await findInList(transport, handle, signal);
  if (reply.status === 404) return { state: 'unknown' };
  const status = findText(reply.body, 'status');
  if (reply.status >= 300 || status === undefined) throw buildRefusal(reply);
  if (status === 'completed' || status === 'succeeded') return { state: 'done', result: handle };
  if (['failed', 'cancelled', 'canceled', 'expired', 'error'].includes(status)) {
    const words = ['error.code', 'error.message', 'error'].map((path) => findText(reply.body, path));
    return { state: 'failed', error: buildFailure(...words) };
  }
  const percent = findMember(reply.body, 'progress');
  return { state: 'waiting', ...(typeof percent === 'number' ? { progress: percent / 100 } : {}) };
}

/** Some servers can list jobs but not fetch a single one. */
async function findInList(transport: Transport, handle: string, signal: AbortSignal) {
  const reply = await transport.call('/videos', { effect: 'harmless', signal });
  const data = findMember(reply.body, 'data');
  const job: unknown = Array.isArray(data) ? data.find((item) => findText(item, 'id') === handle) : undefined;
  return job === undefined ? { status: 404, body: undefined } : { status: 200, body: job };
}

/** The models that the engine lists, each with the default capabilities. */
function rememberModels(transport: Transport): () => Promise<Model[]> {
  const Bare = OpenAiVideosConfig.shape.models.unwrap().element;
  let known: Model[] = [];
  let asked = -Infinity;
  return async () => {
    if (performance.now() - asked < MODELS_FRESH_MS) return known;
    const signal = AbortSignal.timeout(5000);
    const reply = await transport.call('/models', { effect: 'accepting', signal }).catch(() => undefined);
    const data = findMember(reply?.body, 'data');
    if (Array.isArray(data)) {
      const ids = data.map((item) => findText(item, 'id')).filter((id) => id !== undefined);
      known = ids.map((id) => Bare.parse({ id }));
      asked = performance.now();
    }
    return known;
  };
}
