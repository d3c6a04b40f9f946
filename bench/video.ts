// Measures the video service through its API on PostgreSQL and on the embedded database: submits and status requests,
// sequential and 32 at once, while a video is rendered. Floor: the bare insert of a row. Prints the processor time per
// request of server and database, which says more on a busy machine than the rate.
// Needs: PostgreSQL (make services).
import { Agent, request } from 'undici';
import { openPostgres } from '../src/platform/db/postgres.ts';
import type { Db } from '../src/platform/db/db.ts';
import { runMigrations } from '../src/platform/store/migrate.ts';
import { startPostgres } from '../test/support/services/postgres.ts';
import { findPostmaster } from './support/postmaster.ts';
import { readCpu, readOwnCpu } from './support/processes.ts';
import { median, milliseconds, printMachine, quantile } from './support/figures.ts';
import { startBenchServer } from './support/server.ts';
import type { BenchServer } from './support/server.ts';
import { NEEDS, requireFound } from './support/needs.ts';

const REQUESTS = 500;
const AT_ONCE = 32;

const BODY = { prompt: 'A lighthouse', modelName: 'local/storyboard-1', duration: '1s', resolution: '480p' };

/** Milliseconds of processor time used so far, by name. */
type Usage = Record<string, () => number>;

async function measure(name: string, usage: Usage, work: (index: number) => Promise<unknown>): Promise<void> {
  for (let warm = 0; warm < 30; warm += 1) await work(-1 - warm);
  const times: number[] = [];
  for (let index = 0; index < REQUESTS; index += 1) {
    const started = performance.now();
    await work(index);
    times.push(performance.now() - started);
  }
  let next = 0;
  const before = Object.values(usage).map((read) => read());
  const started = performance.now();
  const lane = async () => {
    while (next < REQUESTS * 4) await work((next += 1));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const rate = (REQUESTS * 4 * 1000) / (performance.now() - started);
  const used = Object.entries(usage).map(([part, read], index) => {
    return `, ${milliseconds((read() - before[index]!) / (REQUESTS * 4))} of ${part}`;
  });
  const figures = [median(times), quantile(times, 0.95), quantile(times, 0.99)].map(milliseconds).join(' / ');
  console.log(`${name}: p50 / p95 / p99 ${figures}; ${rate.toFixed(0)}/s, ${AT_ONCE} at once${used.join('')}`);
}

const agent = new Agent({ connections: AT_ONCE, pipelining: 1 });

async function measureService(name: string, server: BenchServer, database: Usage): Promise<void> {
  const usage: Usage = { server: () => readOwnCpu(server.pid), ...database };
  // Far more than is spent here, for organizations in turn.
  const keys = await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const organization = `bench-${index}`;
      const body = { name: 'bench', organization, requestsPerMinute: 1_000_000 };
      const headers = { 'x-api-key': server.adminKey, 'content-type': 'application/json' };
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      return ((await (await fetch(`${server.url}/v1/api-keys`, init)).json()) as { key: string }).key;
    }),
  );
  const call = async (method: string, path: string, key: string | undefined, body?: unknown) => {
    const response = await request(`${server.url}${path}`, {
      method: method as 'GET' | 'POST',
      dispatcher: agent,
      headers: { 'x-api-key': key ?? '', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const answer = (await response.body.json()) as { data?: { generations: { id: string }[] } };
    if (response.statusCode >= 300)
      throw new Error(`${method} ${path}: ${response.statusCode} ${JSON.stringify(answer)}`);
    return answer;
  };
  const ids: string[] = [];
  await measure(`${name}, submit`, usage, async (index) => {
    const answer = await call('POST', '/api/generations', keys[Math.abs(index) % keys.length], BODY);
    if (index >= 0 && index % keys.length === 0) ids.push(answer.data?.generations[0]?.id ?? '');
  });
  await measure(`${name}, status`, usage, (index) =>
    call('GET', `/api/generations/${ids[Math.abs(index) % ids.length]}`, keys[0]),
  );
}

async function measureFloor(db: Db, usage: Usage): Promise<void> {
  await db.exec('CREATE TABLE floor (id bigint GENERATED ALWAYS AS IDENTITY, body text)');
  await measure('floor, one row inserted by SQL', usage, () =>
    db.query('INSERT INTO floor (body) VALUES ($1)', [BODY.prompt]),
  );
}

printMachine();
const embedded = await startBenchServer();
await measureService('embedded', embedded, {});
await embedded.close();
const service = requireFound(await startPostgres(), NEEDS.postgres);
const db = await openPostgres({ url: service.url });
try {
  await runMigrations(db);
  const postmaster = await findPostmaster(db);
  const usage: Usage = { database: () => readCpu(postmaster) };
  await measureFloor(db, usage);
  const server = await startBenchServer({ DATABASE_URL: service.url });
  await measureService('PostgreSQL', server, usage);
  await server.close();
} finally {
  await agent.close();
  await db.close();
  await service.stop();
}
