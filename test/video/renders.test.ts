import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { signWebhook } from '../../src/platform/webhook-signature.ts';
import { RenderError } from '../../src/video/engines/engine.ts';
import { findLedgerFaults, startVideo } from './harness.ts';
import type { TestVideo, TestVideoOptions } from './harness.ts';
import { SCRIPTED, openScriptedEngine, untilAborted } from './scripted-engine.ts';

let video: TestVideo | undefined;
afterEach(async () => {
  await video?.close();
  video = undefined;
});

async function start(options: TestVideoOptions = {}, capabilities = {}) {
  const engine = openScriptedEngine(capabilities);
  video = await startVideo({ ...options, engines: [engine] });
  const credits = async (key?: string) =>
    (await video!.call('GET', '/api/credits', key === undefined ? {} : { key })).body['data'];
  return { engine, video, credits };
}
const BODY = { prompt: 'x', modelName: SCRIPTED };

describe('a render', () => {
  it('that an engine refuses fails with the reason and gives the credits back', async () => {
    const { engine, video: service, credits } = await start();
    engine.script = () => Promise.reject(new RenderError('moderation', 'The engine refuses the prompt.'));
    const [id] = await service.submit(BODY);
    const failed = await service.finish(id!);
    expect(failed).toMatchObject({ status: 'failed', phase: 'failed', credits_charged: 0 });
    expect(failed.error).toBe('moderation: The engine refuses the prompt.');
    expect(failed).not.toHaveProperty('video_url');
    expect(failed).not.toHaveProperty('completed_at');
    expect(await credits()).toEqual({ balance: 1000, reserved: 0 });
    expect(await findLedgerFaults(service.ports)).toEqual([]);
  });

  it('that exceeds its deadline fails, and the engine’s job is cancelled', async () => {
    const { engine, video: service, credits } = await start({}, { deadlineSeconds: 1 });
    engine.script = async (_request, context) => {
      await context.saveHandle('job-1');
      await untilAborted(context.signal);
    };
    const [id] = await service.submit(BODY);
    expect((await service.finish(id!)).error).toMatch(/^timeout: /);
    expect(engine.cancelled).toEqual(['job-1']);
    expect(await credits()).toEqual({ balance: 1000, reserved: 0 });
  });

  it('can be cancelled while it runs and while it waits, once, and is refunded', async () => {
    const { engine, video: service, credits } = await start();
    engine.script = async (_request, context) => {
      await context.saveHandle('job-1');
      await untilAborted(context.signal);
    };
    const [running, waiting] = await service.submit({ ...BODY, count: 2 });
    await expect.poll(() => engine.requests.length).toBe(1);
    for (const id of [waiting, running]) {
      const answer = await service.call('DELETE', `/api/generations/${id}`);
      expect(answer).toMatchObject({ status: 200, body: { id, status: 'failed' } });
      expect(answer.body['error']).toMatch(/^cancelled: /);
      expect(await service.call('DELETE', `/api/generations/${id}`)).toMatchObject({
        status: 409,
        body: { error: 'conflict' },
      });
    }
    await expect.poll(() => engine.cancelled).toEqual(['job-1']);
    expect(await credits()).toEqual({ balance: 1000, reserved: 0 });
    engine.script = () => Promise.resolve();
    const [next] = await service.submit(BODY);
    expect((await service.finish(next!)).status).toBe('completed');
    expect(engine.requests.map(({ id }) => id)).toEqual([running, next]);
    expect(await findLedgerFaults(service.ports)).toEqual([]);
  });

  it('that meets trouble of ours is begun again, and attached to by the handle that was saved', async () => {
    const { engine, video: service } = await start();
    const handles: (string | undefined)[] = [];
    engine.script = async (_request, context) => {
      handles.push(context.handle);
      if (context.handle !== undefined) return;
      await context.saveHandle('job-7');
      throw new Error('the disk is full');
    };
    const [id] = await service.submit(BODY);
    expect((await service.finish(id!)).status).toBe('completed');
    expect(handles).toEqual([undefined, 'job-7']);
    const keys: string[] = [];
    for await (const { key } of service.ports.objects.list(`results/${id}/`)) keys.push(key);
    expect(keys).toEqual([`results/${id}/2/thumbnail.webp`, `results/${id}/2/video.mp4`]);
    expect(await findLedgerFaults(service.ports)).toEqual([]);
  });

  it('goes by turns between organizations, however much one of them has queued', async () => {
    const { engine, video: service } = await start({ worker: false });
    const [big, small] = await Promise.all(['big', 'small'].map((name) => service.makeKey(name)));
    const many: string[] = [];
    for (let each = 0; each < 5; each += 1) many.push(...(await service.submit({ ...BODY, count: 4 }, big)));
    // The big one's fourth is held until the small one has queued: what is looked at is the order, never the time.
    const go = Promise.withResolvers<void>();
    engine.script = () => (engine.requests.length === 4 ? go.promise : Promise.resolve());
    await service.startWorker();
    await expect.poll(() => engine.requests.length).toBe(4);
    const few = await service.submit({ ...BODY, count: 3 }, small);
    go.resolve();
    for (const [id, key] of [
      [many.at(-1)!, big],
      [few.at(-1)!, small],
    ] as const)
      await service.finish(id, key);
    const begun = engine.requests.map(({ id }) => id);
    // Between two of the small one's there is one of the big one's, give or take what was begun already.
    expect(begun.indexOf(few[2]!) - begun.indexOf(few[0]!)).toBeLessThanOrEqual(6);
    expect(begun.indexOf(few[2]!)).toBeLessThan(4 + 8);
    expect(begun.filter((id) => many.includes(id))).toEqual(many);
    expect(begun.filter((id) => few.includes(id))).toEqual(few);
  });

  it('shows how far it is', async () => {
    const { engine, video: service } = await start();
    const go = Promise.withResolvers<void>();
    engine.script = async (_request, context) => {
      context.onProgress(0.4);
      await go.promise;
    };
    const [id] = await service.submit(BODY);
    const look = async () => (await service.call('GET', `/api/generations/${id}`)).body;
    await expect.poll(async () => (await look())['progress']).toBeCloseTo(0.4);
    expect(await look()).toMatchObject({ status: 'generating', phase: 'rendering' });
    go.resolve();
    expect(await service.finish(id!)).toMatchObject({ status: 'completed', progress: 1 });
  });

  it('that is no longer kept has no address, and its objects are gone', async () => {
    const { video: service } = await start({ settings: { retentionDays: 1 } });
    const [id] = await service.submit(BODY);
    await service.finish(id!);
    const { sweepObjects } = await import('../../src/video/worker/sweep.ts');
    await sweepObjects(service.ports);
    expect((await service.finish(id!)).video_url).toMatch(/^http/);
    await service.ports.db.query(`UPDATE generations SET completed_at = now() - interval '25 hours' WHERE id = $1`, [
      id,
    ]);
    await sweepObjects(service.ports);
    const gone = await service.finish(id!);
    expect(gone).toMatchObject({ status: 'completed', expired: true, video_url: null, share_url: null });
    for await (const { key } of service.ports.objects.list('results/')) expect.unreachable(key);
    expect((await service.call('GET', '/api/assets/search?q=xx')).body).toMatchObject({ data: [] });
  });
});

describe('a webhook', () => {
  it('is called once a generation has ended, signed, again until it is taken, with the same id', async () => {
    const calls: { headers: Record<string, unknown>; body: string }[] = [];
    const receiver = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => {
        calls.push({ headers: request.headers, body });
        response.writeHead(calls.length === 1 ? 500 : 204).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    const { video: service } = await start({ allow: [host] });
    const [id] = await service.submit({ ...BODY, webhookUrl: `http://${host}/done?x=1` });
    await service.finish(id!);
    await expect.poll(() => calls.length).toBe(2);
    const key = await service.makeKey('acme', ['admin']);
    const answer = await service.call<{ data: { secret: string } }>('GET', '/api/webhooks/secret', { key });
    const { secret } = answer.body.data;
    for (const { headers, body } of calls) {
      expect(JSON.parse(body)).toMatchObject({ type: 'generation.completed', data: { id, status: 'completed' } });
      const timestamp = Number(headers['webhook-timestamp']);
      const signature = signWebhook(secret, { id: String(headers['webhook-id']), timestamp, body });
      expect(headers['webhook-signature']).toBe(signature);
    }
    expect(calls[0]?.headers['webhook-id']).toBe(calls[1]?.headers['webhook-id']);
    receiver.close();
    receiver.closeAllConnections();
  });

  it('never goes to an address inside', async () => {
    const reached: string[] = [];
    const inside = createServer((request, response) => {
      reached.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
    const { video: service } = await start();
    const url = `http://127.0.0.1:${(inside.address() as AddressInfo).port}/`;
    const refused = await service.call('POST', '/api/generations', { body: { ...BODY, webhookUrl: url } });
    expect(refused).toMatchObject({ status: 400, body: { error: 'validation_error' } });
    // One whose name has come to lead inside since.
    const { db, queue } = service.ports;
    const [generationId] = await service.submit(BODY);
    await service.finish(generationId!);
    const { rows } = await db.query<{ organization_id: string }>('SELECT organization_id FROM generations');
    const organizationId = rows[0]!.organization_id;
    await queue.addWebhook(db, { url, organizationId, generationId: generationId!, event: 'generation.completed' });
    const tried = async () =>
      (
        await db.query<{ n: number }>(
          `SELECT count(*) AS n FROM video_jobs.job WHERE name = 'webhooks' AND state = 'retry'`,
        )
      ).rows[0]?.n;
    await expect.poll(tried).toBe(1);
    expect(reached).toEqual([]);
    inside.close();
  });
});
