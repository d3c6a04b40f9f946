import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { VideoEnginesConfig } from '../../../../src/video/contract/engines.ts';
import { describeIssues } from '../../../../src/platform/contract/validation.ts';
import { openEgress } from '../../../../src/platform/egress/egress.ts';
import type { Egress } from '../../../../src/platform/egress/egress.ts';
import type { RenderRequest } from '../../../../src/video/engines/engine.ts';
import { fillTemplate } from '../../../../src/video/engines/remote/template.ts';
import { makeScratch } from '../../../support/scratch.ts';
import { makeMedia, testTone, testVideo } from '../../media/corpus.ts';
import { buildRequest, render } from '../render.ts';
import { readForm, readJsonBody, startEngineServer } from './engine-server.ts';
import type { EngineServer } from './engine-server.ts';
import { comfyUi, fal, openAiVideos, openFor, replicate } from './protocols.ts';
import type { Protocol } from './protocols.ts';

let folder: string;
let photo: string;
let clip: string;
let tone: string;
let egress: Egress;
let server: EngineServer | undefined;

beforeAll(async () => {
  folder = makeScratch('requests');
  photo = join(folder, 'photo.png');
  await sharp({ create: { width: 64, height: 48, channels: 3, background: '#aa3322' } }).toFile(photo);
  clip = makeMedia(join(folder, 'clip.mp4'), ...testVideo(1));
  tone = makeMedia(join(folder, 'tone.mp3'), ...testTone(1));
  egress = openEgress({ allow: ['127.0.0.1'] });
});
afterEach(() => server?.close());
afterAll(async () => {
  await egress.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The engine's start request for a generation with all options. */
async function ask(protocol: Protocol, more: Parameters<typeof openFor>[3] = {}, request: Partial<RenderRequest> = {}) {
  const answer = { bytes: readFileSync(clip), type: 'video/mp4' };
  const on = await startEngineServer((asked, self) => protocol.speak(asked, self), answer);
  server = on;
  const inputs = {
    startFrame: photo,
    ingredientImages: [photo],
    characterImages: [photo, photo],
    sourceVideo: clip,
    referenceVideos: [clip],
    audio: tone,
  };
  const whole = { model: protocol.model, durationSeconds: 4, width: 1280, height: 720, hasAudio: true, inputs };
  await render(
    openFor(protocol, on.url, egress, more),
    buildRequest(folder, { ...whole, prompt: 'a "red" fox', ...request }),
  );
  const submit = on.asked.find((asked) => protocol.isSubmit(asked));
  if (submit === undefined) throw new Error('Nothing was started.');
  return { submit, asked: on.asked };
}

describe('openai-videos', () => {
  it('sends the fields of the API of that name', async () => {
    const { submit } = await ask(openAiVideos);
    const form = await readForm(submit);
    expect(form).toEqual({
      model: 'sora-2',
      prompt: 'a "red" fox',
      seconds: '4',
      size: '1280x720',
      input_reference: { name: 'start-frame.jpg', size: expect.any(Number) as number, type: 'image/jpeg' },
    });
    expect(submit.headers.get('idempotency-key')).toMatch(/^gen_/);
  });

  it('sends the fields of vLLM-Omni', async () => {
    const { submit } = await ask(openAiVideos, { engine: { dialect: 'vllm-omni', framesPerSecond: 16 } });
    const form = await readForm(submit);
    expect(form).toMatchObject({
      width: '1280',
      height: '720',
      num_frames: '64',
      fps: '16',
      seed: '7',
      generate_sound: 'true',
      source_video: { name: 'source-video.mp4', type: 'video/mp4' },
    });
    expect(form['video_reference']).toMatch(/^\{"video_url":"data:video\/mp4;base64,/);
    expect(form['audio_reference']).toMatch(/^\{"audio_url":"data:audio\/wav;base64,/);
  });

  it('asks in JSON where files are not taken', async () => {
    const { submit } = await ask(openAiVideos, { engine: { dialect: 'json' } });
    expect(readJsonBody(submit)).toEqual({ model: 'sora-2', prompt: 'a "red" fox', seconds: '4', size: '1280x720' });
  });

  it('finds its models, and its jobs in the list where that is all there is', async () => {
    const speak: Protocol['speak'] = (asked, on) => {
      const job = { id: on.started[0], status: on.asked.length > 6 ? 'completed' : 'queued', progress: null };
      if (asked.path === '/v1/videos' && asked.method === 'GET') return { json: { data: [{ id: 'other' }, job] } };
      const isJob = asked.method === 'GET' && asked.path === `/v1/videos/${on.started[0]}`;
      return isJob ? { status: 405, json: {} } : openAiVideos.speak(asked, on);
    };
    const { asked } = await ask({ ...openAiVideos, speak }, { engine: { models: undefined } });
    expect(asked[0]?.path).toBe('/v1/models');
    expect(asked.at(-1)?.path).toBe('/v1/videos/job-1/content');
  });
});

describe.each([
  { type: 'fal', protocol: fal },
  { type: 'replicate', protocol: replicate },
])('$type', ({ protocol }) => {
  it('fills the template of the model', async () => {
    const { submit } = await ask(protocol, {}, { hasAudio: false });
    const body = readJsonBody(submit);
    const input = (protocol.type === 'fal' ? body : body['input']) as Record<string, unknown>;
    const picture = expect.stringMatching(/^data:image\/jpeg;base64,/) as string;
    expect(input).toEqual({
      prompt: 'a "red" fox',
      caption: 'shot of a "red" fox in 4 s',
      seed: 7,
      size: [1280, 720],
      audio: false,
      image_url: picture,
      subjects: [picture, picture],
      things: [picture],
    });
  });
});

it('replicate: names the version, the time limit, and large files by their address', async () => {
  const noise = join(folder, 'noise.png');
  await sharp(Buffer.from(Array.from({ length: 900 * 900 * 3 }, (_, at) => (at * 7919 * (at % 251)) % 256)), {
    raw: { width: 900, height: 900, channels: 3 },
  }).toFile(noise);
  const inputs = { startFrame: noise, ingredientImages: [], characterImages: [], referenceVideos: [] };
  const versioned: Protocol = {
    ...replicate,
    isSubmit: ({ method, path }) => method === 'POST' && path === '/v1/predictions',
  };
  const { submit, asked } = await ask(versioned, { model: { version: 'abc123', deadlineSeconds: 90 } }, { inputs });
  expect(readJsonBody(submit)).toMatchObject({
    version: 'abc123',
    input: { image_url: 'https://files.example/large' },
  });
  expect(submit.headers.get('cancel-after')).toBe('90s');
  expect(asked.filter(({ path }) => path === '/v1/files').length).toBe(1);
});

it('comfyui: uploads the files, fills the workflow, chooses the id', async () => {
  const { submit, asked } = await ask(comfyUi);
  const body = readJsonBody(submit);
  expect(body['prompt_id']).toMatch(/^[0-9a-f-]{36}$/);
  const name = expect.stringMatching(/^capstan-gen_\d+-/) as string;
  expect(body['prompt']).toMatchObject({
    1: { inputs: { prompt: 'a "red" fox', seed: 7, size: [1280, 720], image_url: name, things: [name] } },
  });
  const uploads = asked.filter(({ path }) => path === '/upload/image');
  expect(uploads.length).toBe(7);
  expect(await readForm(uploads[0] ?? submit)).toMatchObject({ type: 'input', overwrite: 'true', image: { name } });
});

it('comfyui: reads the workflow from a file, and restarts a prompt that was never sent', async () => {
  const workflowFile = join(folder, 'workflow.json');
  writeFileSync(workflowFile, JSON.stringify({ 3: { inputs: { text: '{{prompt}}', length: '{{frames}}' } } }));
  const answer = { bytes: readFileSync(clip), type: 'video/mp4' };
  server = await startEngineServer((asked, self) => comfyUi.speak(asked, self), answer);
  const engine = openFor(comfyUi, server.url, egress, { model: { workflow: undefined, workflowFile } });
  const handle = '7c0f2e1a-0000-4000-8000-000000000000';
  const request = buildRequest(folder, { model: comfyUi.model, durationSeconds: 2, prompt: 'x' });
  const saved: string[] = [];
  await engine.render(request, {
    signal: new AbortController().signal,
    onProgress: () => undefined,
    handle,
    saveHandle: (id) => Promise.resolve(void saved.push(id)),
  });
  expect(server.started).toEqual([handle]);
  expect(saved).toEqual([handle]);
  const submit = server.asked.find((asked) => comfyUi.isSubmit(asked));
  expect(readJsonBody(submit)['prompt']).toEqual({ 3: { inputs: { text: 'x', length: 32 } } });
});

describe('a template', () => {
  it.each([
    ['{{a}}', 7],
    [' {{a}}', ' 7'],
    ['{{ a }}', 7],
    ['{{gone}}', undefined],
    ['x{{gone}}y', 'xy'],
    [
      { a: '{{a}}', b: '{{gone}}', c: [{ d: '{{text}}' }, '{{gone}}', 1, null] },
      { a: 7, c: [{ d: '{{a}}' }, 1, null] },
    ],
    ['{{constructor}}', undefined],
  ])('%j becomes %j', (template, filled) => {
    expect(fillTemplate(template, { a: 7, text: '{{a}}' })).toEqual(filled);
  });
});

describe('the configuration', () => {
  it.each<[Record<string, unknown>, string]>([
    [{ type: 'sora' }, 'type'],
    [{ type: 'openai-videos' }, 'baseUrl'],
    [{ type: 'openai-videos', baseUrl: 'file:///etc' }, 'baseUrl'],
    [{ type: 'openai-videos', baseUrl: 'http://x/v1', apiKey: 'a', apiKeyEnv: 'B' }, 'apiKeyEnv'],
    [{ type: 'fal', models: [{ id: 'a/b' }] }, 'models[0].input'],
    [{ type: 'comfyui', baseUrl: 'http://x', models: [{ id: 'a' }] }, 'models[0].workflow'],
    [{ type: 'replicate', models: [] }, 'models'],
    [{ type: 'fal', models: [{ id: 'a', input: {}, aspectRatio: '16:9' }] }, 'models[0]: has unknown fields'],
  ])('%j is refused by the name of %s', (studio, field) => {
    const parsed = VideoEnginesConfig.safeParse({ studio });
    expect(parsed.success ? '' : describeIssues(parsed.error, 'file')).toContain(field);
  });

  it('takes no name that is not free', () => {
    for (const name of ['local', 'Studio', 'a/b']) {
      const engine = { type: 'openai-videos', baseUrl: 'http://x/v1' };
      expect(VideoEnginesConfig.safeParse({ [name]: engine }).success).toBe(false);
    }
  });
});
