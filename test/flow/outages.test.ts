import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'vitest';
import type { TestContext } from 'vitest';
import { openPostgres } from '../../src/platform/db/postgres.ts';
import { buildApi } from '../support/chat.ts';
import { prepareShared } from '../support/crash/backends.ts';
import { spawnServer } from '../support/crash/server.ts';
import type { ServerProcess } from '../support/crash/server.ts';
import { startDoor } from '../support/services/door.ts';
import { startNats } from '../support/services/nats.ts';
import { startPostgres } from '../support/services/postgres.ts';
import { startRedis } from '../support/services/redis.ts';
import { startS3 } from '../support/services/s3.ts';
import { migrateTemplate } from '../support/template.ts';

const KEY = 'cap_key_of_a_time_without_backends';
const SESSIONS = 4;
/** How often each client is rejected before an outage ends. */
const REFUSALS = 3;
const PATIENCE_MS = 60_000;

/** Dedicated services, because one of them is stopped, and the roles api and worker on them. */
async function startStack() {
  const opened = await Promise.all([startPostgres(), startNats(), startRedis(), startS3()]);
  const [postgres, nats, redis, s3] = opened;
  const stop = () => Promise.all(opened.flatMap((service) => service?.stop() ?? []));
  if (postgres === undefined || nats === undefined || redis === undefined || s3 === undefined) {
    await stop();
    if (process.env['CAPSTAN_REQUIRE_ALL'] === '1') throw new Error('A service is not installed.');
    return undefined;
  }
  await migrateTemplate(postgres.url);
  const door = await startDoor(postgres.url);
  const prepared = await prepareShared({ postgres: door.url, nats: nats.url, redis: redis.url, s3: s3.url });
  const env = { ...prepared.env, CAPSTAN_API_KEY: KEY, CAPSTAN_SANDBOX_UNWRAPPED: 'i-accept-the-risk' };
  const servers = [spawnServer({ role: 'api', env }), spawnServer({ role: 'worker', env })] as const;
  const [api, worker] = await Promise.all(servers.map(({ ready }) => ready));
  if (api === undefined || worker === undefined || !('url' in api) || !('url' in worker)) {
    throw new Error(servers.map((server) => server.output()).join('\n'));
  }
  const close = async () => {
    for (const server of servers) server.signal('SIGKILL');
    await Promise.all(servers.map(({ ended }: ServerProcess) => ended));
    await prepared.close();
    await door.stop();
    await stop();
  };
  // Bypasses the proxy: reads the database while nobody else can reach it.
  const direct = new URL(prepared.env['DATABASE_URL'] ?? '');
  direct.host = new URL(postgres.url).host;
  const countLeases = async () => {
    const db = await openPostgres({ url: direct.href, poolSize: 1 });
    try {
      const { rows } = await db.query<{ held: number }>(
        'SELECT count(*)::int AS held FROM sessions WHERE lease_expires > now()',
      );
      return rows[0]?.held;
    } finally {
      await db.close();
    }
  };
  const output = () => servers.map((server) => server.output()).join('\n');
  return { url: api.url, workerUrl: worker.url, postgres: door, redis, nats, countLeases, output, close };
}
type Stack = NonNullable<Awaited<ReturnType<typeof startStack>>>;

/** One client that prompts its session repeatedly and records the responses. */
function keepPrompting(url: string, sessionId: string, over: AbortSignal) {
  const accepted: string[] = [];
  const answers = new Map<string, number>();
  return { accepted, answers, ended: prompt(url, sessionId, over, { accepted, answers }) };
}

async function prompt(
  url: string,
  sessionId: string,
  over: AbortSignal,
  { accepted, answers }: { accepted: string[]; answers: Map<string, number> },
): Promise<void> {
  for (let number = 0; !over.aborted; number += 1) {
    const text = `${sessionId} says number ${number}.`;
    const body = JSON.stringify({ events: [{ type: 'user.message', content: [{ type: 'text', text }] }] });
    let told: string;
    try {
      const response = await fetch(`${url}/v1/sessions/${sessionId}/events`, {
        method: 'POST',
        headers: { 'x-api-key': KEY, 'content-type': 'application/json' },
        body,
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      await response.text();
      told = String(response.status);
      if (response.ok) accepted.push(text);
      if (response.status === 503 && response.headers.get('retry-after') === null) told = '503 without Retry-After';
    } catch (error) {
      told = error instanceof Error && error.name === 'TimeoutError' ? 'no answer in time' : String(error);
    }
    answers.set(told, (answers.get(told) ?? 0) + 1);
    // Below the agent's own limit.
    await sleep(400);
  }
}

/**
 * Without the database nothing can be accepted, and without Redis no limit can be checked, so callers wait; without
 * NATS only notifications are slower.
 */
const outages = [
  { service: 'postgres', how: 'gone', check: 'database', refuses: true },
  { service: 'redis', how: 'hanging', check: 'limits', refuses: true },
  { service: 'nats', how: 'hanging', check: 'bus', refuses: false },
] as const;

const ask = async (url: string, check: string): Promise<string> => {
  const response = await fetch(`${url}/readyz`);
  const { checks } = (await response.json()) as { checks: Record<string, string> };
  return `${response.status} ${checks[check]}`;
};

async function runTrial(
  { url, workerUrl, countLeases, ...services }: Stack,
  outage: (typeof outages)[number],
  { expect }: Pick<TestContext, 'expect'>,
) {
  const api = buildApi(url, KEY, 'script/demo');
  const agent = await api.createAgent();
  const chats = await Promise.all(Array.from({ length: SESSIONS }, () => api.openChat(agent)));
  for (const chat of chats) chat.close();
  const over = new AbortController();
  const clients = chats.map(({ id }) => keepPrompting(url, id, over.signal));
  /** The server has accepted more prompts of every client than before. */
  const goOn = async () => {
    const before = clients.map(({ accepted }) => accepted.length);
    const waits = () => clients.some(({ accepted }, place) => accepted.length <= (before[place] ?? 0));
    await expect.poll(waits).toBe(false);
  };
  await goOn();
  const before = clients.map(({ answers }) => answers.get('503') ?? 0);
  const isRefused = ({ answers }: (typeof clients)[number], place: number) =>
    (answers.get('503') ?? 0) >= (before[place] ?? 0) + REFUSALS;
  services[outage.service].pause();
  const askBoth = () => Promise.all([url, workerUrl].map((each) => ask(each, outage.check)));
  await expect.poll(askBoth).toEqual(['503 unavailable', '503 unavailable']);
  // The outage lasts until every client has met it, and longer than the leases that nobody could renew.
  if (outage.refuses) await expect.poll(() => clients.every(isRefused)).toBe(true);
  else await goOn();
  if (outage.service === 'postgres') await expect.poll(countLeases).toBe(0);
  services[outage.service].resume();
  await expect.poll(() => ask(url, outage.check)).toBe('200 ok');
  await goOn();
  over.abort();
  await Promise.all(clients.map(({ ended }) => ended));
  const answers = new Map<string, number>();
  for (const [place, client] of clients.entries()) {
    const read = async () =>
      ((await chats[place]?.list()) ?? [])
        .filter(({ type }) => type === 'agent.message')
        .map(({ payload }) => JSON.stringify(payload));
    const countReplies = (texts: string[], text: string) => texts.filter((reply) => reply.includes(text)).length;
    // Every accepted prompt was executed, once.
    const { accepted } = client;
    await expect.poll(async () => (await read()).length, { interval: 500 }).toBeGreaterThanOrEqual(accepted.length);
    const texts = await read();
    expect(accepted.filter((text) => countReplies(texts, text) !== 1)).toEqual([]);
    for (const [told, count] of client.answers) answers.set(told, (answers.get(told) ?? 0) + count);
  }
  return answers;
}

// In parallel: each has its own services, and mostly waits.
describe('under load', { timeout: 600_000 }, () => {
  it.concurrent.for(outages)(
    'with $service $how for a while, it keeps what it has accepted, does it once, and answers 503 to what it cannot take',
    async (outage, { expect }) => {
      const stack = await startStack();
      if (stack === undefined) return;
      try {
        const answers = await runTrial(stack, outage, { expect });
        const usual = outage.refuses ? ['200', '202', '503'] : ['200', '202'];
        const unusual = [...answers.keys()].filter((told) => !usual.includes(told));
        if (unusual.length > 0) process.stderr.write(stack.output());
        expect(unusual).toEqual([]);
        expect((answers.get('503') ?? 0) > SESSIONS).toBe(outage.refuses);
      } finally {
        await stack.close();
      }
    },
  );
});
