import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GenerationSubmitted } from '../../src/video/contract/generations.ts';
import { openPostgresDatabase } from '../support/database.ts';
import { findService } from '../support/find-service.ts';
import { findLedgerFaults, startVideo } from './harness.ts';
import type { TestVideo } from './harness.ts';
import { SCRIPTED, openScriptedEngine } from './scripted-engine.ts';

const postgres = await findService('postgres');
const BODY = { prompt: 'x', modelName: SCRIPTED };

describe.skipIf(postgres === undefined)('submits of many organizations to two servers', () => {
  let database: Awaited<ReturnType<typeof openPostgresDatabase>>;
  let servers: TestVideo[];

  beforeAll(async () => {
    database = await openPostgresDatabase(postgres!, { poolSize: 10 });
    const shared = { db: database.db, close: () => Promise.resolve() };
    const start = () => startVideo({ database: shared, engines: [openScriptedEngine()], worker: false });
    servers = [await start(), await start()];
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.close()));
    await database.close();
  });

  const makeKeys = (names: readonly string[]) => Promise.all(names.map((name) => servers[0]!.makeKey(name)));
  const post = (server: number, key: string, headers: Record<string, string> = {}) =>
    servers[server]!.call<GenerationSubmitted>('POST', '/api/generations', { body: BODY, key, headers });
  const findOrganization = async (name: string) =>
    (await database.db.query<{ id: string }>('SELECT id FROM organizations WHERE name = $1', [name])).rows[0]!.id;
  const readPlaces = async () =>
    (
      await database.db.query<{ places: number; rows: number }>(
        `SELECT count(DISTINCT (g.organization_id, g.queue_tag)) AS places, count(*) AS rows
         FROM generations g JOIN video_jobs.job j ON j.id = g.job_id AND j.priority = -g.queue_tag`,
      )
    ).rows[0];

  it('are charged once each, with a place and a job of their own', async () => {
    const names = ['one', 'two', 'three', 'four'];
    const keys = await makeKeys(names);
    const asked = Array.from({ length: 120 }, (_, index) => post(index % 2, keys[(index >> 1) % 4]!));
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    expect(await findLedgerFaults({ db: database.db })).toEqual([]);
    for (const key of keys) {
      const { body } = await servers[1]!.call('GET', '/api/credits', { key });
      expect(body).toEqual({ data: { balance: 700, reserved: 300 } });
    }
    expect(await readPlaces()).toEqual({ places: 120, rows: 120 });
  });

  it('are one request where they have the same idempotency key, whichever server is asked', async () => {
    const names = ['five', 'six'];
    const keys = await makeKeys(names);
    const asked = Array.from({ length: 80 }, (_, index) => {
      const order = index % 10;
      return post((index >> 2) % 2, keys[order % 2]!, { 'idempotency-key': `order-${order}` });
    });
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    answers.forEach(({ body }, index) => expect(body).toEqual(answers[index % 10]?.body));
    expect(new Set(answers.map(({ body }) => body.data.generations[0]?.id)).size).toBe(10);
    for (const key of keys) {
      const { body } = await servers[0]!.call('GET', '/api/credits', { key });
      expect(body).toEqual({ data: { balance: 950, reserved: 50 } });
    }
    expect(await findLedgerFaults({ db: database.db })).toEqual([]);
  });

  it('do not wait for other accounts', async () => {
    const [held, free] = await makeKeys(['held', 'free']);
    await Promise.all([post(0, held!), post(0, free!)]);
    const organizationId = await findOrganization('held');
    const taken = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const holding = database.db.transaction(async (tx) => {
      await tx.query('SELECT 1 FROM credit_accounts WHERE organization_id = $1 FOR UPDATE', [organizationId]);
      taken.resolve();
      await release.promise;
    });
    await taken.promise;
    let waits = true;
    const late = Promise.all([post(0, held!), post(0, held!)]).finally(() => (waits = false));
    for (let turn = 0; turn < 5; turn += 1) expect(await post(0, free!)).toMatchObject({ status: 202 });
    expect(waits).toBe(true);
    release.resolve();
    await holding;
    expect((await late).map(({ status }) => status)).toEqual([202, 202]);
    expect(await findLedgerFaults({ db: database.db })).toEqual([]);
  });

  it('do not fail with those of an organization that is no longer there', async () => {
    const [gone, kept] = await makeKeys(['gone', 'kept']);
    await Promise.all([post(0, gone!), post(0, kept!)]);
    const organizationId = await findOrganization('gone');
    const both = await Promise.all([
      database.db.query('DELETE FROM organizations WHERE id = $1', [organizationId]).then(() => post(0, gone!)),
      ...Array.from({ length: 10 }, () => post(0, kept!)),
    ]);
    expect([401, 500]).toContain(both[0].status);
    expect(both.slice(1).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 202));
  });
});
