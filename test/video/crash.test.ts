import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openS3 } from '../../src/platform/objects/s3.ts';
import type { GenerationSubmitted } from '../../src/video/contract/generations.ts';
import { createKey } from '../../src/platform/store/keys.ts';
import { findShared } from '../support/crash/backends.ts';
import { spawnServer } from '../support/crash/server.ts';
import type { ServerProcess } from '../support/crash/server.ts';
import { openPostgresDatabase } from '../support/database.ts';
import { makeScratch } from '../support/scratch.ts';
import { S3_CREDENTIALS } from '../support/services/s3.ts';
import { MASTER_KEY } from '../support/vaults.ts';
import { SMALL, findLedgerFaults, probeVideo } from './harness.ts';

/** `CAPSTAN_CRASH_KILLS=100` for a long run. */
const KILLS = Number(process.env['CAPSTAN_CRASH_KILLS'] ?? 30);
const SEATS = 2;
/** Submitted while servers die; enough that there is always something to render. Even: organizations have the same share. */
const GENERATIONS = Math.max(20, Math.floor(KILLS * 0.3) * 2);
const ORGANIZATIONS = ['acme', 'globex'];
/** Time limit for a lost generation. */
const LIMIT_MS = 1_500_000;

const services = await findShared();

/** Each process serves the API and renders: a kill hits submits and renders alike. */
describe.skipIf(services === undefined)('video servers that are killed', { timeout: LIMIT_MS + 60_000 }, () => {
  const folder = makeScratch('video-crash');
  const alive = new Set<ServerProcess>();
  const urls = new Map<number, string>();
  let database: Awaited<ReturnType<typeof openPostgresDatabase>>;
  const trial = { killed: 0, killedAtWork: 0, failedStarts: 0, over: false };

  beforeAll(async () => {
    database = await openPostgresDatabase(services!.postgres);
  });
  afterAll(async () => {
    trial.over = true;
    for (const server of alive) server.signal('SIGKILL');
    await Promise.all([...alive].map(({ ended }) => ended));
    rmSync(folder, { recursive: true, force: true });
    await database.close();
  });

  const spawn = (seat: number) =>
    spawnServer({
      role: 'video',
      env: {
        DATABASE_URL: database.url,
        NATS_URL: services!.nats,
        REDIS_URL: services!.redis,
        CAPSTAN_OBJECTS: services!.s3,
        AWS_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
        AWS_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
        CAPSTAN_MASTER_KEY: MASTER_KEY,
        CAPSTAN_DATA_DIR: join(folder, String(seat)),
        CAPSTAN_DATABASE_POOL: '4',
        CAPSTAN_LOG_LEVEL: 'error',
        TMPDIR: folder,
      },
    });

  const countOpen = async () =>
    (
      await database.db.query<{ n: number }>(
        `SELECT count(*) AS n FROM generations WHERE state IN ('queued', 'generating')`,
      )
    ).rows[0]?.n ?? 0;

  /** Keeps one server running and kills it soon after each start, while kills are left. */
  const keep = async (seat: number) => {
    while (!trial.over) {
      const server = spawn(seat);
      alive.add(server);
      const ready = await server.ready;
      // A backend that is slow to answer ends a start; whoever looks after servers begins another one.
      if ('url' in ready) urls.set(seat, ready.url);
      else if ((trial.failedStarts += 1) > KILLS) throw new Error(server.output());
      if (trial.killed < KILLS && 'url' in ready) {
        await sleep(50 + ((seat * 131 + trial.killed * 97) % 900));
        trial.killed += 1;
        if ((await countOpen()) > 0) trial.killedAtWork += 1;
        server.signal('SIGKILL');
      }
      await server.ended;
      alive.delete(server);
    }
  };

  /** Retries at any server until one responds; the key makes it one request. */
  const submit = async (number: number, key: string): Promise<string> => {
    for (let turn = 0; !trial.over; turn += 1) {
      const url = urls.get(turn % SEATS);
      const response = await fetch(`${url}/api/generations`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json', 'idempotency-key': `order-${number}` },
        body: JSON.stringify({ ...SMALL, seed: number }),
      }).catch(() => undefined);
      if (response?.status === 202) {
        const { data } = (await response.json().catch(() => ({ data: { generations: [] } }))) as GenerationSubmitted;
        if (data.generations[0] !== undefined) return data.generations[0].id;
      } else if (response !== undefined && response.status < 500) throw new Error(await response.text());
      await sleep(100);
    }
    throw new Error('The trial is over.');
  };

  it(`lose nothing, charge nothing twice and give out nothing twice over ${KILLS} kills`, async () => {
    const { db } = database;
    const keys = await Promise.all(
      ORGANIZATIONS.map(async (organization) => (await createKey(db, { name: 'k', organization })).key),
    );
    const seats = Array.from({ length: SEATS }, (_, seat) => keep(seat));
    const accepted: string[] = [];
    const submitAll = async (lane: number) => {
      for (let number = lane; number < GENERATIONS; number += ORGANIZATIONS.length) {
        accepted.push(await submit(number, keys[lane]!));
        // Spread over the trial, so that submits are cut off to its end.
        while (trial.killed < KILLS && trial.killed / KILLS < number / GENERATIONS) await sleep(50);
      }
    };
    const deadline = Date.now() + LIMIT_MS;
    await Promise.race([Promise.all(ORGANIZATIONS.map((_, lane) => submitAll(lane))), Promise.all(seats)]);
    while ((trial.killed < KILLS || (await countOpen()) > 0) && Date.now() < deadline) await sleep(250);
    trial.over = true;
    for (const server of alive) server.signal('SIGKILL');
    await Promise.all(seats);

    expect(trial.killed).toBeGreaterThanOrEqual(KILLS);
    expect(trial.killedAtWork).toBeGreaterThan(0);
    expect(new Set(accepted).size).toBe(GENERATIONS);
    const { rows } = await db.query<{ id: string; video_key: string; attempt: number; error: string | null }>(
      'SELECT id, video_key, attempt, error FROM generations ORDER BY id',
    );
    expect(rows.map(({ id }) => id)).toEqual(accepted.toSorted());
    expect(rows.flatMap(({ error }) => error ?? [])).toEqual([]);
    expect(rows.some(({ attempt }) => attempt > 1)).toBe(true);

    // One video and one picture for each, and no more.
    const objects = await openS3({ url: services!.s3, credentials: S3_CREDENTIALS });
    for (const { id, video_key: key, attempt } of rows) {
      const found: string[] = [];
      for await (const object of objects.list(`results/${id}/`)) found.push(object.key);
      expect(found).toEqual([`results/${id}/${attempt}/thumbnail.webp`, key]);
    }
    const last = await objects.get(rows.at(-1)!.video_key);
    const chunks: Buffer[] = [];
    for await (const chunk of last!.body) chunks.push(chunk as Buffer);
    expect((await probeVideo(Buffer.concat(chunks))).streams[0]).toMatchObject({ codec_name: 'h264', height: 480 });
    await objects.close();

    const assets = await db.query('SELECT generation_id FROM video_assets ORDER BY generation_id');
    expect(assets.rows.map(({ generation_id: id }) => id)).toEqual(rows.map(({ id }) => id));
    expect(await findLedgerFaults({ db })).toEqual([]);
    const accounts = await db.query('SELECT balance, reserved FROM credit_accounts');
    const spent = GENERATIONS / ORGANIZATIONS.length;
    expect(accounts.rows).toEqual(ORGANIZATIONS.map(() => ({ balance: 1000 - spent, reserved: 0 })));
  });
});
