import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Db } from '../../../src/platform/db/db.ts';
import { createKey } from '../../../src/platform/store/keys.ts';
import { insertAgent } from '../../../src/agents/store/agents.ts';
import { spawnServer } from '../../support/crash/server.ts';
import type { ServerProcess } from '../../support/crash/server.ts';
import { openPostgresDatabase } from '../../support/database.ts';
import { findService } from '../../support/find-service.ts';
import { makeScratch } from '../../support/scratch.ts';
import { MASTER_KEY } from '../../support/vaults.ts';

const KEY = 'cap_key_of_the_automation_suite';
/** The sessions of a killed worker are soon free. */
const FAST = { CAPSTAN_LEASE_SECONDS: '1', CAPSTAN_DATABASE_POOL: '4', CAPSTAN_MASTER_KEY: MASTER_KEY };
const DUE = 1000;
const WORKERS = 3;
const KILLS = 12;
/** Time limit for a lost one-shot. */
const LIMIT_MS = 600_000;

const service = await findService('postgres');

/** Due one-shots for this many subjects, and a due recurring automation for every tenth of them. */
async function seed(db: Db): Promise<void> {
  const { organizationId } = await createKey(db, { name: 'k', organization: 'default', requestsPerMinute: 1 });
  const agentId = await db.transaction((tx) =>
    insertAgent(tx, {
      organizationId,
      name: 'Ada',
      rateLimits: { conversationsPerMinute: 1, messagesPerMinute: 1 },
      content: {
        modelName: 'script/demo',
        systemPrompt: '',
        skills: [],
        tools: [],
        roles: [],
        mcpServers: [],
        reasoning: null,
        environment: null,
        metadata: {},
      },
    }),
  );
  await db.query(
    `INSERT INTO automations (id, organization_id, agent_id, subject_id, name, prompt, schedule, anchored_at, enabled,
       next_run_at)
     SELECT 'aut_' || n, $1, $2, 'subject ' || n, 'Run ' || n, 'Prompt ' || n,
       CASE WHEN n % 10 = 0 THEN 'every 1d' ELSE '1m' END, now() - interval '3 days 1 hour', true, now() - interval '1 day'
     FROM generate_series(1, ${DUE}) AS n`,
    [organizationId, agentId],
  );
}

/** The whole product in one process, with its own settings, on the shared database. */
function spawnWorker(url: string, dataDir: string) {
  return spawnServer({
    role: 'all',
    env: { DATABASE_URL: url, CAPSTAN_DATA_DIR: dataDir, CAPSTAN_API_KEY: KEY, CAPSTAN_LOG_LEVEL: 'error', ...FAST },
  });
}

describe.skipIf(service === undefined)('workers that race and are killed', { timeout: LIMIT_MS + 120_000 }, () => {
  let database: Awaited<ReturnType<typeof openPostgresDatabase>>;
  const folder = makeScratch('automations');
  const alive = new Set<ServerProcess>();
  beforeAll(async () => {
    database = await openPostgresDatabase(service ?? '');
    await seed(database.db);
  });
  afterAll(async () => {
    for (const worker of alive) worker.signal('SIGKILL');
    await Promise.all([...alive].map(({ ended }) => ended));
    rmSync(folder, { recursive: true, force: true });
    await database.close();
  });

  const count = async (where: string) =>
    (await database.db.query<{ n: number }>(`SELECT count(*) AS n FROM automations WHERE ${where}`)).rows[0]?.n;

  it('run each of 1,000 due occurrences exactly once', async () => {
    const trial = { killed: 0, killedAtWork: 0, over: false };
    const keep = async (seat: number) => {
      while (!trial.over) {
        const worker = spawnWorker(database.url, join(folder, String(seat)));
        alive.add(worker);
        await worker.ready;
        if (trial.killed < KILLS) {
          await sleep(50 + ((seat * 131 + trial.killed * 97) % 400));
          trial.killed += 1;
          if ((await count('run_count = 0')) !== 0) trial.killedAtWork += 1;
          worker.signal('SIGKILL');
        }
        await worker.ended;
        alive.delete(worker);
      }
    };
    const seats = Array.from({ length: WORKERS }, (_, seat) => keep(seat));
    const waited = async () => (await count('run_count = 0 OR success_count + failure_count < run_count')) === 0;
    const deadline = Date.now() + LIMIT_MS;
    while ((!(await waited()) || trial.killed < KILLS) && Date.now() < deadline) await sleep(200);
    trial.over = true;
    for (const worker of alive) worker.signal('SIGKILL');
    await Promise.all(seats);

    const { db } = database;
    expect(trial.killedAtWork).toBeGreaterThan(0);
    expect(await count('run_count = 1 AND success_count = 1 AND failure_count = 0 AND skipped_count = 0')).toBe(DUE);
    expect(await count(`next_run_at IS NULL AND schedule = '1m'`)).toBe(DUE - DUE / 10);
    // The recurring ones have a next time in the future.
    expect(await count(`next_run_at > now() AND schedule <> '1m'`)).toBe(DUE / 10);
    const { rows } = await db.query<{ types: string; n: number }>(
      `SELECT types, count(*) AS n FROM (
         SELECT s.id, string_agg(e.type, ' ' ORDER BY e.sequence) AS types
         FROM sessions s JOIN events e ON e.session_id = s.id GROUP BY s.id) AS logs GROUP BY types`,
    );
    const types = 'user.message session.status_running agent.message session.status_idle';
    expect(rows).toEqual([{ types, n: DUE }]);
    const sessions = await db.query<{ n: number }>(
      `SELECT count(DISTINCT automation_id) AS n FROM sessions WHERE status = 'idle' AND title = 'Run ' || substr(automation_id, 5)`,
    );
    expect(sessions.rows[0]?.n).toBe(DUE);
  });
});
