import { afterAll, beforeAll, expect, test } from 'vitest';
import { claimSessions, correctFutureTimes } from '../../../src/agents/store/leases.ts';
import { beginTurn, makeAgent, makeSession, openApi } from '../api/harness.ts';
import type { Api } from '../api/harness.ts';

const LEASE_MS = 1;

let api: Api;
beforeAll(async () => {
  api = await openApi();
});
afterAll(() => api.close());

/** The lease of a dead owner whose clock was a day ahead when the turn began. */
async function moveToTomorrow(sessionId: string): Promise<void> {
  await api.backends.db.query(
    `UPDATE sessions SET wake_at = now() + interval '1 day', lease_owner = 'gone', lease_expires = now() + interval '1 day'
     WHERE id = $1`,
    [sessionId],
  );
}

test('a turn that began before the clock was set back is taken up by another worker', async () => {
  const { db } = api.backends;
  const agent = await makeAgent(api);
  const running = await makeSession(api, agent);
  const waiting = await makeSession(api, agent);
  await beginTurn(api, running, 'running');
  await beginTurn(api, waiting, 'waiting');
  await moveToTomorrow(running);
  await moveToTomorrow(waiting);
  const claim = () => claimSessions(db, 'next', LEASE_MS, { ids: [running, waiting], limit: 10 });
  expect(await claim()).toEqual([]);
  expect(await correctFutureTimes(db, LEASE_MS)).toBe(1);
  await expect.poll(async () => (await claim()).map(({ sessionId }) => sessionId)).toEqual([running]);
  expect(await correctFutureTimes(db, LEASE_MS)).toBe(0);
});
