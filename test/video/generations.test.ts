import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Generation } from '../../src/video/contract/generations.ts';
import { openEmbeddedDatabase, openPostgresDatabase } from '../support/database.ts';
import { findService } from '../support/find-service.ts';
import { MODEL, SMALL, findLedgerFaults, probeVideo, startVideo } from './harness.ts';
import type { TestVideo } from './harness.ts';

const postgresUrl = await findService('postgres');

const DATABASES = [
  { name: 'postgres', installed: postgresUrl !== undefined, open: () => openPostgresDatabase(postgresUrl ?? '') },
  { name: 'pglite', installed: true, open: openEmbeddedDatabase },
];

describe.each(DATABASES.filter(({ installed }) => installed))('a generation on $name', ({ open }) => {
  let video: TestVideo;
  beforeAll(async () => {
    video = await startVideo({ database: await open() });
  });
  afterAll(() => video.close());

  it('is queued with 202, rendered, settled, and can be downloaded and watched', async () => {
    const body = { ...SMALL, aspectRatio: '16:9', count: 2, seed: 7, hasAudio: true };
    const answer = await video.call('POST', '/api/generations', { body });
    expect(answer.status).toBe(202);
    const { data } = answer.body as { data: { generations: { id: string }[] } };
    expect(data).toEqual({
      generations: [0, 1].map(() => ({
        id: expect.stringMatching(/^gen_[0-9a-z]{26}$/) as string,
        asset_id: null,
        request_id: null,
        status: 'queued',
      })),
      endpoint_id: 'storyboard/text-to-video',
      variant: 'text-to-video',
      metadata: { model_name: MODEL, selected_model_name: MODEL, credits_charged: 2, num_generations: 2 },
    });
    const [first, second] = data.generations.map(({ id }) => id);
    expect(answer.headers.get('location')).toBe(`/api/generations/${first}`);

    const done = await video.finish(first!);
    expect(done).toMatchObject({ status: 'completed', template_id: null, phase: 'completed', progress: 1, seed: 7 });
    expect(done).toMatchObject({ width: 854, height: 480, aspect_ratio: '16:9', credits_charged: 1 });
    expect(Date.parse(done.completed_at ?? '')).toBeGreaterThan(Date.parse(done.created_at ?? ''));
    const response = await fetch(done.video_url ?? '');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    const facts = await probeVideo(new Uint8Array(await response.arrayBuffer()));
    expect(facts.streams.map(({ codec_name: name }) => name)).toEqual(['h264', 'aac']);
    expect(facts.streams[0]).toMatchObject({ width: 854, height: 480 });
    expect(Number(facts.format.duration)).toBeCloseTo(1, 1);
    const thumbnail = await fetch(done.thumbnail_url ?? '');
    expect([thumbnail.status, thumbnail.headers.get('content-type')]).toEqual([200, 'image/webp']);

    expect(await video.finish(second!)).toMatchObject({ status: 'completed', seed: 8 });
    const credits = await video.call('GET', '/api/credits');
    expect(credits.body).toEqual({ data: { balance: 998, reserved: 0 } });
    expect(await findLedgerFaults(video.ports)).toEqual([]);

    const list = await video.call<{ data: Generation[] }>('GET', '/api/generations?limit=1&status=completed');
    expect(list.body).toMatchObject({ data: [{ id: second }], pagination: { offset: 0, limit: 1, has_more: true } });
  });
});
