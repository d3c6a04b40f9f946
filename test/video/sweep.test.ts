import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endOverdue, sweepObjects } from '../../src/video/worker/sweep.ts';
import { findLedgerFaults, startVideo } from './harness.ts';
import type { TestVideo } from './harness.ts';
import { SCRIPTED, openScriptedEngine } from './scripted-engine.ts';

describe('sweeping', () => {
  let video: TestVideo;
  beforeAll(async () => {
    video = await startVideo({ engines: [openScriptedEngine()], worker: false });
  });
  afterAll(() => video.close());

  it('fails overdue generations, refunds the credits, and removes them from the queue', async () => {
    const { db } = video.ports;
    const body = { prompt: 'x', modelName: SCRIPTED };
    const [waited, begun, fresh] = await video.submit({ ...body, count: 3 });
    await db.query(`UPDATE generations SET created_at = now() - interval '25 hours' WHERE id = $1`, [waited]);
    await db.query(
      `UPDATE generations SET state = 'generating', started_at = now() - interval '3 minutes' WHERE id = $1`,
      [begun],
    );
    await endOverdue(video.ports);
    for (const id of [waited, begun]) expect((await video.finish(id!)).error).toMatch(/^timeout: /);
    expect((await video.call('GET', `/api/generations/${fresh}`)).body).toMatchObject({ status: 'generating' });
    expect((await video.call('GET', '/api/credits')).body).toEqual({ data: { balance: 990, reserved: 10 } });
    expect(await findLedgerFaults(video.ports)).toEqual([]);
    const left = await video.ports.queue.fetchRenders(10);
    expect(left.map(({ generationId }) => generationId)).toEqual([fresh]);
  });

  it('deletes uploads unused for a day, and keeps those of characters', async () => {
    const { db, objects } = video.ports;
    const unused = await video.upload(Buffer.from('x'), 'image/png');
    const kept = await video.upload(Buffer.from('x'), 'image/png');
    await db.query(
      `INSERT INTO characters (id, organization_id, name, image_keys)
       SELECT 'chr_x', organization_id, 'x', ARRAY[key] FROM uploads WHERE key = $1`,
      [kept],
    );
    const recent = await video.upload(Buffer.from('x'), 'image/png');
    await db.query(`UPDATE uploads SET created_at = now() - interval '25 hours' WHERE key <> $1`, [recent]);
    await objects.put(`${unused}.0123456789abcdef`, Buffer.from('y'), { contentType: 'image/png' });
    await sweepObjects(video.ports);
    expect(await objects.head(unused)).toBeUndefined();
    expect(await objects.head(`${unused}.0123456789abcdef`)).toBeUndefined();
    expect(await objects.head(kept)).toBeDefined();
    expect(await objects.head(recent)).toBeDefined();
  });
});
