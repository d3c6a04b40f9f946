import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { listInbox } from '../../../src/agents/store/inbox.ts';
import { enqueuePrompt, enqueueSteer } from '../../../src/agents/worker/enqueue.ts';
import { openWorld } from '../api/events/harness.ts';
import type { World } from '../api/events/harness.ts';
import { openEmbeddedDatabase } from '../../support/database.ts';
import type { TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
let world: World;
let sessionId: string;
beforeAll(async () => {
  database = await openEmbeddedDatabase();
  world = await openWorld({ db: database.db });
});
beforeEach(async () => {
  sessionId = await world.createSession();
});
afterAll(async () => {
  await world.close();
  await database.close();
});

const steer = { text: 'left', eventId: 'evt_1' };
const notice = { kind: 'notice', text: 'News\0.', eventId: null } as const;

async function setStatus(status: string): Promise<void> {
  await database.db.query('UPDATE sessions SET status = $2 WHERE id = $1', [sessionId, status]);
}

async function readRow() {
  const { rows } = await database.db.query<{ queued_count: number; awake: boolean }>(
    'SELECT queued_count, wake_at IS NOT NULL AS awake FROM sessions WHERE id = $1',
    [sessionId],
  );
  return rows[0];
}

it('late guidance opens a turn of an idle session', async () => {
  expect(await enqueueSteer(database.db, sessionId, steer)).toBe(true);
  expect(await readRow()).toEqual({ queued_count: 1, awake: true });
  expect((await listInbox(database.db, sessionId, 9)).map(({ prompt }) => prompt)).toEqual([
    { kind: 'steer', ...steer },
  ]);
});

it.each(['running', 'waiting_on_human', 'archived'])(
  'late guidance opens none of a session that is %s',
  async (status) => {
    await setStatus(status);
    expect(await enqueueSteer(database.db, sessionId, steer)).toBe(false);
    expect((await readRow())?.queued_count).toBe(0);
  },
);

it('late guidance opens none where a prompt waits already', async () => {
  await enqueuePrompt(database.db, sessionId, notice);
  expect(await enqueueSteer(database.db, sessionId, steer)).toBe(false);
  expect((await readRow())?.queued_count).toBe(1);
});

it.each([
  { status: 'idle', queued: 1, awake: true },
  { status: 'running', queued: 1, awake: false },
  { status: 'waiting_on_human', queued: 1, awake: false },
  { status: 'archived', queued: 0, awake: false },
])('a notice to a session that is $status is queued $queued times', async ({ status, queued, awake }) => {
  await setStatus(status);
  expect(await enqueuePrompt(database.db, sessionId, notice)).toBe(queued === 1);
  expect(await readRow()).toEqual({ queued_count: queued, awake });
});

it('nothing is queued for a session that is gone', async () => {
  expect(await enqueuePrompt(database.db, 'ses_gone', notice)).toBe(false);
});
