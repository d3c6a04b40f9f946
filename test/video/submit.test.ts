import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MODEL, findLedgerFaults, startVideo } from './harness.ts';
import type { TestVideo } from './harness.ts';
import { SCRIPTED, openScriptedEngine } from './scripted-engine.ts';
import { openStoryboard } from '../../src/video/engines/storyboard/engine.ts';

describe('submitting', () => {
  let video: TestVideo;
  beforeAll(async () => {
    video = await startVideo({ engines: [openStoryboard(), openScriptedEngine()], worker: false });
  });
  afterAll(() => video.close());

  const post = (body: unknown, options: { key?: string; headers?: Record<string, string> } = {}) =>
    video.call('POST', '/api/generations', { body, ...options });
  const count = async () =>
    (await video.ports.db.query<{ n: number }>('SELECT count(*) AS n FROM generations')).rows[0]?.n;

  it.each([
    ['{', 'validation_error', 'body'],
    [{}, 'validation_error', 'prompt'],
    [{ prompt: ' ', modelName: MODEL }, 'validation_error', 'prompt'],
    [{ prompt: 'x' }, 'validation_error', 'modelName'],
    [{ prompt: 'x', modelName: MODEL, count: 0 }, 'validation_error', 'count'],
    [{ prompt: 'x', modelName: MODEL, count: 5 }, 'validation_error', 'count'],
    [{ prompt: 'x', modelName: MODEL, count: 1.5 }, 'validation_error', 'count'],
    [{ prompt: 'x', modelName: MODEL, hasAudio: 'yes' }, 'validation_error', 'hasAudio'],
    [{ prompt: 'x', modelName: MODEL, duration: 5 }, 'validation_error', 'duration'],
    [{ prompt: 'x', modelName: MODEL, webhookUrl: 'ftp://x' }, 'validation_error', 'webhookUrl'],
    [{ prompt: 'x', modelName: MODEL, webhookUrl: 'https://me:secret@x.example' }, 'validation_error', 'webhookUrl'],
    [{ prompt: 'x', modelName: MODEL, webhookUrl: 'http://127.0.0.1:9/' }, 'validation_error', 'webhookUrl'],
    [{ prompt: 'x', modelName: MODEL, webhookUrl: 'http://[::ffff:10.0.0.1]/' }, 'validation_error', 'webhookUrl'],
    [{ prompt: 'x', modelName: MODEL, webhookUrl: 'http://169.254.169.254/x' }, 'validation_error', 'webhookUrl'],
    [{ prompt: 'a\0b', modelName: MODEL }, 'validation_error', 'prompt'],
    [{ prompt: 'x', modelName: 'none' }, 'unsupported_model', 'modelName'],
    [{ prompt: 'x', modelName: MODEL, duration: '7s' }, 'unsupported_parameter', 'duration'],
    [{ prompt: 'x', modelName: MODEL, resolution: '4k' }, 'unsupported_parameter', 'resolution'],
    [{ prompt: 'x', modelName: MODEL, aspectRatio: '2:1' }, 'unsupported_parameter', 'aspectRatio'],
    [{ prompt: 'x', modelName: SCRIPTED, aspectRatio: '9:16' }, 'unsupported_parameter', 'aspectRatio'],
    [{ prompt: 'x', modelName: MODEL, format: 'gif' }, 'unsupported_parameter', 'format'],
    [{ prompt: 'x', modelName: MODEL, templateId: 'none' }, 'unsupported_parameter', 'templateId'],
    [{ prompt: 'x', modelName: SCRIPTED, hasAudio: true }, 'unsupported_parameter', 'hasAudio'],
    [{ prompt: 'x', modelName: SCRIPTED, startFrameKey: 'k' }, 'unsupported_parameter', 'startFrameKey'],
    [
      { prompt: 'x', modelName: SCRIPTED, characterReferenceImageKeys: ['a', 'b'] },
      'unsupported_parameter',
      'characterReferenceImageKeys',
    ],
    [{ prompt: 'x', modelName: MODEL, startFrameKey: 'uploads/none' }, 'invalid_reference', 'startFrameKey'],
  ])('refuses %j with %s naming %s, and charges nothing', async (body, code, field) => {
    const before = await count();
    const answer = await post(typeof body === 'string' ? body : JSON.stringify(body));
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ error: code, request_id: answer.headers.get('x-request-id') });
    expect(String(answer.body['message'])).toContain(field);
    const details = (answer.body['details'] ?? []) as { path: string }[];
    expect(details.some(({ path }) => path === field)).toBe(code === 'validation_error');
    expect(await count()).toBe(before);
  });

  it('wants a key with the scope', async () => {
    expect(await post({}, { key: '' })).toMatchObject({ status: 401, body: { error: 'unauthorized' } });
    const key = await video.makeKey('acme', ['agents:read']);
    for (const [method, path] of [
      ['POST', '/api/generations'],
      ['GET', '/api/generations'],
      ['GET', '/api/generations/gen_x'],
      ['DELETE', '/api/generations/gen_x'],
      ['DELETE', '/api/generations/gen_x/share'],
      ['POST', '/api/generations/gen_x/publish'],
      ['POST', '/api/characters'],
      ['GET', '/api/characters'],
      ['POST', '/api/uploads'],
      ['GET', '/api/templates'],
      ['GET', '/api/templates/x'],
      ['GET', '/api/assets/search?q=xx'],
      ['GET', '/api/models'],
      ['GET', '/api/credits'],
      ['GET', '/api/webhooks/secret'],
    ] as const) {
      const answer = await video.call(method, path, { key });
      expect(answer).toMatchObject({ status: 403, body: { error: 'forbidden' } });
    }
    const reader = await video.makeKey('acme');
    for (const path of ['/api/credits', '/api/templates']) {
      const answer = await video.call('POST', path, { key: reader, body: {} });
      expect(answer).toMatchObject({ status: 403, body: { error: 'forbidden' } });
    }
    const secret = await video.call('GET', '/api/webhooks/secret', { key: reader });
    expect(secret).toMatchObject({ status: 403, body: { error: 'forbidden' } });
  });

  it('returns abilities and price of a model', async () => {
    const { body } = await video.call<{ data: { id: string }[]; pagination: unknown }>('GET', '/api/models');
    expect(body.pagination).toEqual({ offset: 0, limit: 100, has_more: false, next_cursor: null });
    const past = await video.call('GET', '/api/models?limit=1&offset=100');
    expect(past.body).toMatchObject({ data: [], pagination: { offset: 100, limit: 1, has_more: false } });
    expect(body.data.find(({ id }) => id === SCRIPTED)).toEqual({
      id: SCRIPTED,
      object: 'model',
      aspect_ratios: ['auto', '16:9', '1:1'],
      durations: ['4s', '8s'],
      resolutions: ['720p'],
      audio: 'never',
      formats: ['mp4'],
      inputs: {
        start_frame: false,
        end_frame: false,
        ingredient_images: 0,
        character_images: 1,
        source_video: false,
        reference_videos: 0,
        audio: false,
      },
      credits_per_second: { '720p': 2.5 },
    });
  });

  it('answers 402 with price and balance, and reserves nothing', async () => {
    const key = await video.makeKey('poor');
    const admin = await video.makeKey('default', ['admin']);
    const grant = (amount: number) =>
      video.call('POST', '/api/credits', { key: admin, body: { organization: 'poor', amount } });
    expect((await grant(-1000)).body).toEqual({ data: { balance: 0, reserved: 0 } });
    expect((await grant(39)).body).toEqual({ data: { balance: 39, reserved: 0 } });
    const body = { prompt: 'x', modelName: SCRIPTED, duration: '8s', count: 2 };
    expect(await post(body, { key })).toMatchObject({
      status: 402,
      body: { error: 'insufficient_credits', required: 40, balance: 39 },
    });
    expect((await video.call('GET', '/api/credits', { key })).body).toEqual({ data: { balance: 39, reserved: 0 } });
    await grant(1);
    expect((await post(body, { key })).body).toMatchObject({ data: { metadata: { credits_charged: 40 } } });
    expect((await video.call('GET', '/api/credits', { key })).body).toEqual({ data: { balance: 0, reserved: 40 } });
    expect(await findLedgerFaults(video.ports)).toEqual([]);
  });

  it('never spends more than there is, however many ask at once', async () => {
    const key = await video.makeKey('racing');
    const asked = Array.from({ length: 30 }, () => post({ prompt: 'x', modelName: SCRIPTED, count: 4 }, { key }));
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 202)).toHaveLength(25);
    expect(statuses.filter((status) => status === 402)).toHaveLength(5);
    expect((await video.call('GET', '/api/credits', { key })).body).toEqual({ data: { balance: 0, reserved: 1000 } });
    expect(await findLedgerFaults(video.ports)).toEqual([]);
  });

  it('answers a replay as the first time, also when both come at once, and charges once', async () => {
    const key = await video.makeKey('again');
    const headers = { 'idempotency-key': 'order-1' };
    const body = { prompt: 'x', modelName: SCRIPTED };
    const answers = await Promise.all(Array.from({ length: 6 }, () => post(body, { key, headers })));
    answers.push(await post({ modelName: SCRIPTED, prompt: 'x' }, { key, headers }));
    for (const answer of answers) {
      expect(answer.status).toBe(202);
      expect(answer.body).toEqual(answers[0]?.body);
    }
    expect((await video.call('GET', '/api/credits', { key })).body).toEqual({ data: { balance: 990, reserved: 10 } });
    expect(await post({ ...body, prompt: 'y' }, { key, headers })).toMatchObject({
      status: 409,
      body: { error: 'conflict' },
    });
    const other = await video.makeKey('other');
    expect((await post(body, { key: other, headers })).body).not.toEqual(answers[0]?.body);
  });

  it('hides generations from other organizations', async () => {
    const [id] = await video.submit({ prompt: 'x', modelName: SCRIPTED });
    const stranger = await video.makeKey('stranger');
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['DELETE', '/share'],
      ['POST', '/publish'],
      ['DELETE', '/publish'],
    ] as const) {
      const answer = await video.call(method, `/api/generations/${id}${path}`, { key: stranger });
      expect(answer).toMatchObject({ status: 404, body: { error: 'not_found' } });
    }
    expect((await video.call('GET', '/api/generations', { key: stranger })).body).toMatchObject({ data: [] });
  });

  it('tells the place in the queue, and how long to wait before asking again', async () => {
    const key = await video.makeKey('waiting');
    const [first] = await video.submit({ prompt: 'x', modelName: SCRIPTED, count: 2 }, key);
    const answer = await video.call('GET', `/api/generations/${first}`, { key });
    expect(answer.body).toMatchObject({ status: 'generating', phase: 'queued', progress: 0 });
    expect(answer.body['queue_position']).toBeTypeOf('number');
    expect(answer.body).not.toHaveProperty('video_url');
    expect(answer.body).not.toHaveProperty('error');
    expect(answer.headers.get('retry-after')).toBe('5');
  });

  it('clamps limits of lists above the maximum and refuses those below one', async () => {
    const list = await video.call('GET', '/api/generations?limit=1000');
    expect(list).toMatchObject({ status: 200, body: { pagination: { limit: 100, offset: 0 } } });
    for (const query of ['limit=0', 'limit=-1', 'limit=x', 'offset=-1', 'offset=1.5', 'status=queued']) {
      const answer = await video.call('GET', `/api/generations?${query}`);
      expect(answer).toMatchObject({ status: 400, body: { error: 'validation_error' } });
    }
  });

  it('pauses while the configuration says so', async () => {
    const paused = await startVideo({ settings: { freeTierPaused: true }, worker: false });
    const answer = await paused.call('POST', '/api/generations', { body: { prompt: 'x', modelName: MODEL } });
    expect(answer).toMatchObject({ status: 503, body: { error: 'free_tier_paused' } });
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    await paused.close();
  });

  it('gives unknown paths and methods this service’s errors', async () => {
    expect(await video.call('GET', '/api/none')).toMatchObject({ status: 404, body: { error: 'not_found' } });
    const answer = await video.call('PUT', '/api/generations', { body: {} });
    expect(answer).toMatchObject({ status: 405, body: { error: 'method_not_allowed' } });
    expect(answer.headers.get('allow')).toContain('POST');
    expect(answer.body['request_id']).toBe(answer.headers.get('x-request-id'));
  });
});
