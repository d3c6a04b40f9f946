import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openMemoryBus } from '../../../src/platform/bus/memory.ts';
import { listInbox } from '../../../src/agents/store/inbox.ts';
import { MAX_NOTICE_BYTES, MAX_NOTICES_PER_MINUTE, openNoticeQueue } from '../../../src/agents/worker/notices.ts';
import { openLog } from '../../../src/platform/log.ts';
import { openWorld } from '../api/events/harness.ts';
import type { World } from '../api/events/harness.ts';
import { openEmbeddedDatabase } from '../../support/database.ts';
import type { TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let world: World;
let sessionId: string;
let time = 0;
let registry: Registry;
let queue: ReturnType<typeof openNoticeQueue>;
const bus = openMemoryBus();

beforeAll(async () => {
  database = await openEmbeddedDatabase();
  world = await openWorld({ db: database.db });
});
beforeEach(async () => {
  sessionId = await world.createSession();
  registry = new Registry();
  const log = openLog({ level: 'silent', pretty: false });
  queue = openNoticeQueue({ db: database.db, bus, log }, registry, () => time);
});
afterAll(async () => {
  await world.close();
  await database.close();
  await bus.close();
});

const push = (text: string, isExpected: boolean | undefined = true) =>
  queue.push({ sessionId, processId: 'proc_1', text, isExpected });

async function listTexts(): Promise<string[]> {
  const items = await listInbox(database.db, sessionId, 1000);
  return items.map(({ prompt }) => (prompt.kind === 'notice' ? prompt.text : ''));
}

async function countDropped(): Promise<Record<string, number>> {
  const [metric] = await registry.getMetricsAsJSON();
  return Object.fromEntries((metric?.values ?? []).map(({ labels, value }) => [labels['reason'], value]));
}

async function startTurn(): Promise<void> {
  await database.db.query(`UPDATE sessions SET status = 'running', live_turn = 'trn_1' WHERE id = $1`, [sessionId]);
}

it('queues notices of processes that the session subscribed to', async () => {
  await push('ended');
  expect(await listTexts()).toEqual(['ended']);
  expect(await countDropped()).toEqual({ unexpected: 0, rate: 0, queued: 0 });
});

it('drops forged notices of processes without a subscription', async () => {
  for (let index = 0; index < 400; index += 1) await push('x'.repeat(100_000), false);
  expect(await listTexts()).toEqual([]);
  expect(await countDropped()).toMatchObject({ unexpected: 400 });
});

it('queues one notice while a turn runs, of 8 KiB at most', async () => {
  await startTurn();
  await push('first');
  await push('second');
  await push('\u00e9'.repeat(100_000));
  expect(await listTexts()).toEqual(['first\n\nsecond']);
  expect(await countDropped()).toEqual({ unexpected: 0, rate: 0, queued: 1 });
});

it('cuts a long notice', async () => {
  await push('\u00e9'.repeat(100_000));
  const [text = ''] = await listTexts();
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_NOTICE_BYTES);
  expect(Buffer.byteLength(text)).toBeGreaterThan(MAX_NOTICE_BYTES - 8);
});

it('hears ten notices a minute of one session', async () => {
  for (let index = 0; index < 400; index += 1) await push('forged');
  expect(await listTexts()).toHaveLength(MAX_NOTICES_PER_MINUTE);
  expect(await countDropped()).toMatchObject({ rate: 390 });
  time += 60_000;
  await push('later');
  expect((await listTexts()).at(-1)).toBe('later');
});

it('ignores a session that is gone', async () => {
  await queue.push({ sessionId: 'ses_gone', processId: 'proc_1', text: 'x', isExpected: true });
  expect(await countDropped()).toEqual({ unexpected: 0, rate: 0, queued: 0 });
});
