import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openEgress } from '../../../../src/platform/egress/egress.ts';
import type { Egress } from '../../../../src/platform/egress/egress.ts';
import { RenderError } from '../../../../src/video/engines/engine.ts';
import { makeScratch } from '../../../support/scratch.ts';
import { makeMedia, testTone, testVideo } from '../../media/corpus.ts';
import { buildContext, buildRequest, inspect, listBoxes, render } from '../render.ts';
import { startEngineServer } from './engine-server.ts';
import type { Answer, EngineServer } from './engine-server.ts';
import { PROTOCOLS, openFor } from './protocols.ts';

let folder: string;
let clip: Buffer;
let open: Egress;
let shut: Egress;

beforeAll(() => {
  folder = makeScratch('remote');
  const note = ['-metadata', 'comment=made by gpu-7.internal'];
  const path = makeMedia(join(folder, 'made.mp4'), ...testVideo(2), ...testTone(2), '-c:a', 'aac', ...note);
  clip = readFileSync(path);
  open = openEgress({ allow: ['127.0.0.1'] });
  shut = openEgress({ allow: [] });
});

afterAll(async () => {
  await open.close();
  await shut.close();
  rmSync(folder, { recursive: true, force: true });
});

const busy = (status: number): Answer => ({ status, json: { error: 'busy' }, headers: { 'retry-after': '0' } });
const faultOf = (error: unknown) =>
  error instanceof RenderError ? { code: error.code, message: error.message } : String(error);

describe.each(PROTOCOLS.map((protocol) => ({ type: protocol.type, protocol })))('$type', ({ protocol }) => {
  const { model } = protocol;
  let server: EngineServer;
  const ask = (more: Parameters<typeof buildRequest>[1] = {}) =>
    buildRequest(folder, { model, durationSeconds: 2, width: 1280, height: 720, hasAudio: true, ...more });
  const submits = () => server.asked.filter((asked) => protocol.isSubmit(asked));
  const fail = async (more: Parameters<typeof openFor>[3] = {}, egress = open) => {
    const engine = openFor(protocol, server.url, egress, more);
    return await render(engine, ask()).then(() => 'rendered', faultOf);
  };

  beforeEach(async () => {
    server = await startEngineServer((asked, on) => protocol.speak(asked, on), { bytes: clip, type: 'video/mp4' });
  });
  afterEach(() => server.close());

  it('lists the abilities of its models', async () => {
    const [first] = await openFor(protocol, server.url, open).models();
    expect(first).toMatchObject({
      name: model,
      aspectRatios: ['auto', '16:9', '9:16'],
      durations: [2, 4],
      resolutions: ['720p'],
      audio: 'optional',
      formats: ['mp4'],
      creditsPerSecond: { '720p': 1 },
    });
  });

  it('renders: the file in the form of all results, the handle saved before the wait', async () => {
    const engine = openFor(protocol, server.url, open);
    const context = buildContext({ saveHandle: () => Promise.resolve() });
    const saved: { handle: string; looks: number }[] = [];
    const saveHandle = (handle: string) => {
      saved.push({ handle, looks: server.asked.length - submits().length });
      return Promise.resolve();
    };
    const request = ask();
    const { file, thumbnail } = await render(engine, request, { ...context, saveHandle });
    expect([file, thumbnail].every((path) => path.startsWith(`${request.folder}/`))).toBe(true);
    expect(submits().length).toBe(1);
    expect(saved.length).toBe(1);
    expect(saved[0]?.looks).toBe(0);
    expect(saved[0]?.handle).toContain(server.started[0]);
    const key = submits()[0]?.headers.get('authorization');
    expect(key).toBe(protocol.type === 'fal' ? 'Key sk-test' : 'Bearer sk-test');

    const facts = inspect(file);
    expect(facts.video).toMatchObject({ codec_name: 'h264', width: 320, height: 180 });
    expect(facts.audio).toMatchObject({ codec_name: 'aac' });
    expect(JSON.stringify(facts.tags)).not.toContain('gpu-7');
    const boxes = listBoxes(file);
    expect(boxes.indexOf('moov')).toBeLessThan(boxes.indexOf('mdat'));
    expect((await sharp(thumbnail).metadata()).format).toBe('webp');
  });

  it('leaves the audio out where none was asked for, and needs no progress', async () => {
    Object.assign(server.behaviour, { waits: 3, tellsProgress: false });
    const { file, context } = await render(openFor(protocol, server.url, open), ask({ hasAudio: false }));
    expect(inspect(file).audio).toBeUndefined();
    expect(context.progress).toEqual([]);
  });

  it('tells how far it is, never less than before', async () => {
    server.behaviour.waits = 5;
    const told = await render(openFor(protocol, server.url, open), ask());
    const steps = told.context.progress;
    expect(steps).toEqual(['openai-videos', 'replicate'].includes(protocol.type) ? [0.4] : []);
  });

  it('comes back when the engine is busy, at the start, while waiting and at the result', async () => {
    server.behaviour.submitTroubles = [busy(429), busy(503), busy(429)];
    server.behaviour.lookTroubles = [busy(429), busy(500), { status: 0 }, busy(502)];
    server.behaviour.resultTroubles = [busy(500), { status: 0 }];
    const { file } = await render(openFor(protocol, server.url, open), ask());
    expect(inspect(file).video?.nb_read_frames).toBe('48');
    expect(server.started.length).toBe(1);
    expect(submits().length).toBe(4);
  });

  it.each([
    ['the connection breaks off', { status: 0 }],
    ['the engine fails', { status: 500, json: { error: 'no' } }],
  ])('starts no second job when %s after the first was sent', async (_name, trouble) => {
    server.behaviour.submitTroubles = [trouble];
    expect(await fail()).toMatchObject({ code: 'engine_error' });
    expect(submits().length).toBe(1);
  });

  it.each([
    [400, 'invalid_input'],
    [401, 'engine_error'],
    [402, 'engine_error'],
    [422, 'invalid_input'],
  ])('says what a refusal with status %d means', async (status, code) => {
    server.behaviour.submitTroubles = [{ status, json: { detail: 'no: sk-123' } }];
    const fault = await fail();
    expect(fault).toMatchObject({ code });
    expect(JSON.stringify(fault)).not.toContain('sk-123');
    expect(submits().length).toBe(1);
  });

  it('tells a failure from a moderation, in words of its own', async () => {
    server.behaviour.end = 'failed';
    const failed = await fail();
    expect(['engine_error', 'invalid_input']).toContain((failed as { code: string }).code);
    Object.assign(server.behaviour, { end: 'moderated', waits: 1 });
    const moderated = await fail();
    expect(moderated).toMatchObject({ code: 'moderation' });
    expect(JSON.stringify([failed, moderated])).not.toMatch(/gpu-7|sk-123|job-/);
  });

  it('attaches to the job of an earlier attempt', async () => {
    const engine = openFor(protocol, server.url, open);
    const abort = new AbortController();
    let handle = '';
    const died = new Error('killed');
    server.behaviour.waits = 1_000_000;
    const first = engine.render(ask(), {
      ...buildContext({ signal: abort.signal }),
      saveHandle: (saved) => {
        handle = saved;
        return Promise.resolve();
      },
    });
    const ended = first.catch((error: unknown) => error);
    await expect.poll(() => handle).not.toBe('');
    await expect.poll(() => server.started.length).toBe(1);
    abort.abort(died);
    expect(await ended).toBe(died);
    expect(server.cancelled).toEqual([]);

    server.behaviour.waits = 1;
    const { file } = await render(openFor(protocol, server.url, open), ask(), buildContext({ handle }));
    expect(inspect(file).video?.nb_read_frames).toBe('48');
    expect(server.started.length).toBe(1);
    expect(submits().length).toBe(1);
  });

  it('says so when the engine has lost the job', async () => {
    server.behaviour.end = 'lost';
    expect(await fail()).toEqual({ code: 'engine_error', message: 'The engine has lost the job.' });
  });

  it('gives a job up at its deadline and cancels it', async () => {
    server.behaviour.end = 'never';
    expect(await fail({ model: { deadlineSeconds: 0.3 } })).toMatchObject({ code: 'timeout' });
    expect(server.cancelled).toEqual(server.started);
  });

  it('cancels an abandoned job', async () => {
    server.behaviour.end = 'never';
    const engine = openFor(protocol, server.url, open);
    const abort = new AbortController();
    const context = buildContext({ signal: abort.signal });
    const ended = engine.render(ask(), context).catch((error: unknown) => error);
    await expect.poll(() => server.started.length).toBe(1);
    await expect.poll(() => context.saved.length).toBe(1);
    abort.abort(new Error('cancelled'));
    await ended;
    await engine.cancel?.(context.saved[0] ?? '');
    expect(server.cancelled).toEqual(server.started);
    await engine.cancel?.(context.saved[0]?.replace('job-1', 'job-9') ?? '');
  });

  it.each<[string, Answer, Record<string, unknown>, string]>([
    ['a page', { bytes: Buffer.from('<html>'), type: 'text/html' }, {}, 'is not a video'],
    ['a page called a video', { bytes: Buffer.from('<html>'), type: 'video/mp4' }, {}, 'is not a video'],
    ['a playlist', { bytes: Buffer.from('#EXTM3U\nfile:///etc/passwd\n'), type: 'video/mp4' }, {}, 'is not a video'],
    ['nothing', { bytes: Buffer.alloc(0), type: 'video/mp4' }, {}, 'is not a video'],
    ['too much', { bytes: Buffer.alloc(200_000), type: 'video/mp4' }, { maxBytes: 50_000 }, 'is too large'],
  ])('refuses %s as a result', async (_name, result, engine, words) => {
    server.behaviour.result = result;
    const fault = await fail({ engine });
    expect(fault).toMatchObject({ code: 'engine_error' });
    expect((fault as { message: string }).message).toContain(words);
  });

  it('fetches from an address that the engine names through the guard only', async () => {
    const fault = await fail({}, shut);
    const results = server.asked.filter(({ path }) => path === '/out.mp4').length;
    const refused = {
      code: 'engine_error',
      message: 'The engine named an address for its result that is not allowed.',
    };
    expect(fault).toEqual(protocol.namesAddress ? refused : 'rendered');
    expect(results).toBe(0);
  });

  it('sends pictures without metadata', async () => {
    const photo = join(folder, 'photo.jpg');
    const picture = sharp({ create: { width: 64, height: 48, channels: 3, background: '#aa3322' } });
    await picture
      .withExif({ IFD0: { Copyright: 'where-i-live' } })
      .jpeg()
      .toFile(photo);
    const request = ask({
      inputs: { startFrame: photo, ingredientImages: [photo], characterImages: [photo], referenceVideos: [] },
    });
    await render(openFor(protocol, server.url, open), request);
    const bodies = server.asked.map(({ body }) => body.toString('latin1'));
    const datas = bodies.flatMap((body) => [...body.matchAll(/data:image\/jpeg;base64,([A-Za-z0-9+/=]+)/g)]);
    const texts = [...bodies, ...datas.map(([, data]) => Buffer.from(data ?? '', 'base64').toString('latin1'))];
    expect(texts.join('')).toContain('\u00ff\u00d8\u00ff');
    expect(texts.join('')).not.toContain('where-i-live');
  });
});
