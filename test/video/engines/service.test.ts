import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openEgress } from '../../../src/platform/egress/egress.ts';
import type { Egress } from '../../../src/platform/egress/egress.ts';
import { makeScratch } from '../../support/scratch.ts';
import { findLedgerFaults, probeVideo, startVideo } from '../harness.ts';
import type { TestVideo } from '../harness.ts';
import { makeMedia, testVideo } from '../media/corpus.ts';
import { startEngineServer } from './remote/engine-server.ts';
import type { EngineServer } from './remote/engine-server.ts';
import { PROTOCOLS, openFor } from './remote/protocols.ts';

let folder: string;
let egress: Egress;
let video: TestVideo;
const servers: EngineServer[] = [];
const MORE = { waits: 2, end: 'done' } as const;

/** One service for all of them: a start of it is the dearest part here. */
beforeAll(async () => {
  folder = makeScratch('engine-service');
  const clip = readFileSync(makeMedia(join(folder, 'made.mp4'), ...testVideo(2)));
  egress = openEgress({ allow: ['127.0.0.1'] });
  for (const protocol of PROTOCOLS) {
    servers.push(await startEngineServer((asked, on) => protocol.speak(asked, on), { bytes: clip, type: 'video/mp4' }));
  }
  const engines = PROTOCOLS.map((protocol, index) => openFor(protocol, servers[index]?.url ?? '', egress));
  video = await startVideo({ engines, worker: false });
});
afterAll(async () => {
  await video.close();
  servers.forEach((server) => server.close());
  await egress.close();
  rmSync(folder, { recursive: true, force: true });
});

const NAMED = PROTOCOLS.map((protocol, index) => ({ type: protocol.type, protocol, index }));
describe.each(NAMED)('the service over $type', ({ protocol, index }) => {
  let server: EngineServer;
  let worker: { close(): Promise<void> };
  const body = { prompt: 'A boat', modelName: protocol.model, duration: '2s' };

  beforeEach(async () => {
    server = servers[index] as EngineServer;
    Object.assign(server.behaviour, MORE);
    server.asked.length = server.started.length = server.cancelled.length = 0;
    worker = await video.startWorker();
  });
  afterEach(() => worker.close());

  it('charges once for a job that outlives its worker, and delivers it', async () => {
    server.behaviour.waits = 1_000_000;
    const [id = ''] = await video.submit(body);
    await expect.poll(() => server.started.length).toBe(1);
    await expect.poll(() => server.asked.length).toBeGreaterThan(4);
    await worker.close();
    expect(server.cancelled).toEqual([]);

    server.behaviour.waits = 1;
    worker = await video.startWorker();
    const done = await video.finish(id);
    expect(done).toMatchObject({ status: 'completed', credits_charged: 2 });
    const bytes = new Uint8Array(await (await fetch(done.video_url ?? '')).arrayBuffer());
    expect((await probeVideo(bytes)).streams).toMatchObject([{ codec_name: 'h264' }]);
    expect(server.started.length).toBe(1);
    expect(await findLedgerFaults(video.ports)).toEqual([]);
  });

  it('cancels the engine’s job for a cancelled generation, and refunds it', async () => {
    server.behaviour.end = 'never';
    const [id = ''] = await video.submit(body);
    await expect.poll(() => server.started.length).toBe(1);
    await expect.poll(() => server.asked.length).toBeGreaterThan(4);
    expect((await video.call('DELETE', `/api/generations/${id}`)).status).toBe(200);
    await expect.poll(() => server.cancelled).toEqual(server.started);
    const credits = await video.call('GET', '/api/credits');
    expect(credits.body).toMatchObject({ data: { reserved: 0 } });
    expect(await findLedgerFaults(video.ports)).toEqual([]);
  });

  it('refunds a generation that the engine rejects, with our own message', async () => {
    server.behaviour.end = 'moderated';
    const [id = ''] = await video.submit(body);
    const failed = await video.finish(id);
    expect(failed).toMatchObject({ status: 'failed', credits_charged: 0 });
    expect(failed.error).toBe('moderation: The engine rejected the content of the prompt or the references.');
    expect(await findLedgerFaults(video.ports)).toEqual([]);
  });
});
