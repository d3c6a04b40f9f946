import { VideoEnginesConfig } from '../../../../src/video/contract/engines.ts';
import type { Engine } from '../../../../src/video/engines/engine.ts';
import { openEngines } from '../../../../src/video/engines/open-engines.ts';
import type { Egress } from '../../../../src/platform/egress/egress.ts';
import { readJsonBody, takeLook } from './engine-server.ts';
import type { Answer, Asked, EngineServer, Speak } from './engine-server.ts';

/** One wire protocol: how the engine of a test speaks it, and how ours is configured for it. */
export type Protocol = {
  type: string;
  model: string;
  /** whether the result's address is named by the engine, rather than known beforehand */
  namesAddress: boolean;
  speak: Speak;
  config(url: string): Record<string, unknown>;
  isSubmit(asked: Asked): boolean;
};

const INPUTS = {
  startFrame: true,
  endFrame: true,
  ingredientImages: 4,
  characterImages: 4,
  sourceVideo: true,
  referenceVideos: 2,
  audio: true,
};
const MODEL = { durations: [2, 4], audio: 'optional', inputs: INPUTS };
const INPUT = {
  prompt: '{{prompt}}',
  caption: 'shot of {{prompt}} in {{seconds}} s',
  seed: '{{seed}}',
  size: ['{{width}}', '{{height}}'],
  audio: '{{has_audio}}',
  image_url: '{{start_frame}}',
  last_image_url: '{{end_frame}}',
  subjects: '{{characters}}',
  things: ['{{ingredient_1}}', '{{ingredient_2}}'],
};

const next = (troubles: Answer[]): Answer | undefined => troubles.shift();
const start = (server: EngineServer): string => {
  const id = `job-${server.started.length + 1}`;
  server.started.push(id);
  return id;
};
const SECRETIVE = 'host gpu-7.internal, key sk-123';

export const openAiVideos: Protocol = {
  type: 'openai-videos',
  model: 'studio/sora-2',
  namesAddress: false,
  config: (url) => ({ baseUrl: `${url}/v1`, models: [{ ...MODEL, id: 'sora-2' }] }),
  isSubmit: ({ method, path }) => method === 'POST' && path === '/v1/videos',
  speak(asked, server) {
    const { behaviour } = server;
    const id = asked.path.split('/')[3];
    if (asked.path === '/v1/models') return { json: { data: [{ id: 'sora-2' }, { id: 'wan' }] } };
    if (this.isSubmit(asked)) {
      return next(behaviour.submitTroubles) ?? { json: { id: start(server), object: 'video', status: 'queued' } };
    }
    if (id === undefined || !server.started.includes(id)) return undefined;
    if (asked.method === 'DELETE') {
      server.cancelled.push(id);
      return { json: { id, deleted: true } };
    }
    if (asked.path.endsWith('/content')) return next(behaviour.resultTroubles) ?? behaviour.result;
    const trouble = next(behaviour.lookTroubles);
    if (trouble !== undefined) return trouble;
    const state = takeLook(server);
    if (state === 'lost') return undefined;
    const progress = behaviour.tellsProgress ? { progress: 40 } : {};
    if (state === 'waiting') return { json: { id, status: 'in_progress', ...progress } };
    if (state === 'done') return { json: { id, status: 'completed', progress: 100 } };
    const code = state === 'moderated' ? 'moderation_blocked' : 'server_error';
    return { json: { id, status: 'failed', error: { code, message: SECRETIVE } } };
  },
};

export const replicate: Protocol = {
  type: 'replicate',
  model: 'studio/wan/wan-2.2',
  namesAddress: true,
  config: (url) => ({ baseUrl: `${url}/v1`, models: [{ ...MODEL, id: 'wan/wan-2.2', input: INPUT }] }),
  isSubmit: ({ method, path }) => method === 'POST' && path === '/v1/models/wan/wan-2.2/predictions',
  speak(asked, server) {
    const { behaviour } = server;
    if (this.isSubmit(asked)) {
      return next(behaviour.submitTroubles) ?? { status: 201, json: { id: start(server), status: 'starting' } };
    }
    if (asked.path === '/v1/files') return { status: 201, json: { urls: { get: 'https://files.example/large' } } };
    if (asked.path === '/out.mp4') return next(behaviour.resultTroubles) ?? behaviour.result;
    const [id, action] = asked.path.replace('/v1/predictions/', '').split('/');
    if (id === undefined || !server.started.includes(id)) return undefined;
    if (action === 'cancel') {
      server.cancelled.push(id);
      return { json: { id, status: 'canceled' } };
    }
    const trouble = next(behaviour.lookTroubles);
    if (trouble !== undefined) return trouble;
    const state = takeLook(server);
    if (state === 'lost') return undefined;
    const logs = behaviour.tellsProgress ? ' 10%|█   |\n 40%|████   | 4/10' : null;
    if (state === 'waiting') return { json: { id, status: 'processing', logs } };
    if (state === 'done') return { json: { id, status: 'succeeded', output: [`${server.url}/out.mp4`] } };
    const error = state === 'moderated' ? `NSFW content detected (E005) ${SECRETIVE}` : SECRETIVE;
    return { json: { id, status: 'failed', error } };
  },
};

export const fal: Protocol = {
  type: 'fal',
  model: 'studio/fal-ai/wan/v2/text-to-video',
  namesAddress: true,
  config: (url) => ({ baseUrl: url, models: [{ ...MODEL, id: 'fal-ai/wan/v2/text-to-video', input: INPUT }] }),
  isSubmit: ({ method, path }) => method === 'POST' && path === '/fal-ai/wan/v2/text-to-video',
  speak(asked, server) {
    const { behaviour } = server;
    if (this.isSubmit(asked)) {
      const trouble = next(behaviour.submitTroubles);
      if (trouble !== undefined) return trouble;
      const id = start(server);
      const status_url = `${server.url}/fal-ai/wan/requests/${id}/status`;
      return { json: { request_id: id, status: 'IN_QUEUE', queue_position: 1, status_url } };
    }
    if (asked.path === '/out.mp4') return next(behaviour.resultTroubles) ?? behaviour.result;
    const [, id, action] = /^\/fal-ai\/wan\/requests\/([^/]+)(?:\/(\w+))?$/.exec(asked.path) ?? [];
    if (id === undefined || !server.started.includes(id)) return undefined;
    if (action === 'cancel') {
      server.cancelled.push(id);
      return { status: 202, json: { status: 'CANCELLATION_REQUESTED' } };
    }
    if (action === undefined) {
      if (behaviour.end === 'done') return { json: { video: { url: `${server.url}/out.mp4` }, seed: 7 } };
      const type = behaviour.end === 'moderated' ? 'content_policy_violation' : 'value_error';
      return { status: 422, json: { detail: [{ loc: ['body', 'prompt'], msg: SECRETIVE, type }] } };
    }
    const trouble = next(behaviour.lookTroubles);
    if (trouble !== undefined) return trouble;
    const state = takeLook(server);
    if (state === 'lost') return undefined;
    if (state === 'waiting') return { status: 202, json: { status: 'IN_PROGRESS' } };
    const error = state === 'failed' ? { error: SECRETIVE, error_type: 'runner_error' } : {};
    return { json: { status: 'COMPLETED', ...error } };
  },
};

export const comfyUi: Protocol = {
  type: 'comfyui',
  model: 'studio/wan-2.2',
  namesAddress: false,
  config: (url) => {
    const workflow = { 1: { class_type: 'TextEncode', inputs: INPUT }, 2: { class_type: 'SaveVideo', inputs: {} } };
    return { baseUrl: url, models: [{ ...MODEL, id: 'wan-2.2', workflow, framesPerSecond: 16 }] };
  },
  isSubmit: ({ method, path }) => method === 'POST' && path === '/prompt',
  speak(asked, server) {
    const { behaviour } = server;
    if (this.isSubmit(asked)) {
      const trouble = next(behaviour.submitTroubles);
      if (trouble !== undefined) return trouble;
      const id = readJsonBody(asked)['prompt_id'] as string;
      server.started.push(id);
      return { json: { prompt_id: id, number: 1, node_errors: {} } };
    }
    if (asked.path === '/upload/image') {
      const name = /filename="([^"]+)"/.exec(asked.body.toString('latin1'))?.[1];
      return { json: { name, subfolder: '', type: 'input' } };
    }
    if (asked.path === '/view') return next(behaviour.resultTroubles) ?? behaviour.result;
    if (asked.path === '/queue' && asked.method === 'POST') return { json: {} };
    const running = server.started.filter((id) => !server.cancelled.includes(id));
    if (asked.path === '/queue') {
      const gone = behaviour.end === 'lost' && behaviour.waits <= 0;
      return { json: { queue_running: gone ? [] : running.map((id) => [1, id, {}]), queue_pending: [] } };
    }
    if (asked.path === '/interrupt') {
      server.cancelled.push(readJsonBody(asked)['prompt_id'] as string);
      return { json: {} };
    }
    const id = asked.path.replace('/history/', '');
    const trouble = next(behaviour.lookTroubles);
    if (trouble !== undefined) return trouble;
    const state = server.started.includes(id) ? takeLook(server) : 'lost';
    if (state === 'waiting' || state === 'lost') return { json: {} };
    const video = { filename: 'capstan_00001.mp4', subfolder: 'video', type: 'output' };
    if (state === 'done') {
      const status = { status_str: 'success', completed: true, messages: [] };
      return { json: { [id]: { status, outputs: { 2: { images: [video], animated: [true] } } } } };
    }
    const exception_message = state === 'moderated' ? `Prompt was flagged: ${SECRETIVE}` : SECRETIVE;
    const messages = [
      ['execution_start', {}],
      ['execution_error', { exception_message }],
    ];
    return { json: { [id]: { status: { status_str: 'error', completed: false, messages }, outputs: {} } } };
  },
};

export const PROTOCOLS = [openAiVideos, comfyUi, fal, replicate];

/** Our engine for a server of a test, impatient. */
export function openFor(
  protocol: Protocol,
  url: string,
  egress: Egress,
  more: { model?: Record<string, unknown>; engine?: Record<string, unknown> } = {},
): Engine {
  const base = protocol.config(url);
  const models = base['models'] as Record<string, unknown>[];
  const studio = {
    type: protocol.type,
    apiKey: 'sk-test',
    pollSeconds: 0.02,
    ...base,
    models: models.map((model) => ({ ...model, ...more.model })),
    ...more.engine,
  };
  const [, engine] = openEngines(VideoEnginesConfig.parse({ studio }), { egress, retryMs: 10 });
  if (engine === undefined) throw new Error('There is one engine.');
  return engine;
}
