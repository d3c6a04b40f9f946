import { afterAll, beforeAll, expect, it } from 'vitest';
import { markArchived } from '../../../../src/agents/store/sessions.ts';
import { openEmbeddedDatabase } from '../../../support/database.ts';
import type { TestDatabase } from '../../../support/database.ts';
import { openWorld, prompt } from './harness.ts';
import type { World } from './harness.ts';

let database: TestDatabase;
let world: World;
beforeAll(async () => {
  database = await openEmbeddedDatabase();
  world = await openWorld({ db: database.db });
});
afterAll(async () => {
  await world.close();
  await database.close();
});

async function readGoal(sessionId: string): Promise<Record<string, unknown>> {
  const { rows } = await world.db.query<{ goal: Record<string, unknown> }>('SELECT goal FROM sessions WHERE id = $1', [
    sessionId,
  ]);
  return rows[0]!.goal;
}

it('a control phrase with an Idempotency-Key acts once and gets the first answer again', async () => {
  const sessionId = await world.createSession();
  await world.send(sessionId, [prompt('/goal Ship it.')]);
  const key = { 'idempotency-key': 'pause' };
  const [first, again] = [
    await world.send(sessionId, [prompt('/goal pause')], key),
    await world.send(sessionId, [prompt('/goal pause')], key),
  ];
  expect(again.body).toEqual(first.body);
  expect(await readGoal(sessionId)).toMatchObject({ status: 'paused', revision: 2 });
  const { body } = await world.list(sessionId);
  expect(body.data.filter(({ type }) => type === 'agent.message')).toHaveLength(1);
});

it('goals and phrases cost a message of the rate limit each', async () => {
  const sessionId = await world.createSession(2);
  await world.send(sessionId, [prompt('/goal Ship it.')]);
  expect((await world.send(sessionId, [prompt('/goal status')])).headers.get('ratelimit-remaining')).toBe('0');
  expect((await world.send(sessionId, [prompt('/goal clear')])).status).toBe(429);
  expect(await readGoal(sessionId)).toMatchObject({ status: 'active' });
});

it('a goal sent while a turn runs is queued, and takes the place of the one before at once', async () => {
  const sessionId = await world.createSession();
  await world.send(sessionId, [prompt('/goal One.')]);
  expect((await world.send(sessionId, [prompt('/goal Two.')])).status).toBe(202);
  expect(await readGoal(sessionId)).toMatchObject({ objective: 'Two.', status: 'active', revision: 2 });
});

it('a phrase is refused like any message: by an archived session, and beside control events of a live turn', async () => {
  const sessionId = await world.createSession();
  await world.send(sessionId, [prompt('/goal One.')]);
  const mixed = await world.send(sessionId, [prompt('/goal pause'), { type: 'user.steer', message: 'left' }]);
  expect(mixed).toMatchObject({ status: 409, body: { error: 'invalid_state' } });
  expect(await readGoal(sessionId)).toMatchObject({ status: 'active' });
  const archived = await world.createSession();
  await world.db.query(`UPDATE sessions SET status = 'archived' WHERE id = $1`, [archived]);
  expect(await world.send(archived, [prompt('/goal status')])).toMatchObject({
    status: 409,
    body: { error: 'invalid_state' },
  });
});

it('acts at once with when_idle, too', async () => {
  const sessionId = await world.createSession();
  await world.send(sessionId, [prompt('/goal One.')]);
  const sent = await world.send(sessionId, [prompt('/goal pause')], {}, { delivery: 'when_idle' });
  expect(sent.status).toBe(200);
  expect(await readGoal(sessionId)).toMatchObject({ status: 'paused' });
});

it('a resumed goal continues without the note of its pause', async () => {
  const sessionId = await world.createSession();
  for (const text of ['/goal One.', '/goal pause', '/goal resume']) await world.send(sessionId, [prompt(text)]);
  expect(await readGoal(sessionId)).toMatchObject({ status: 'active', reason: null });
});

it('the blocks of a goal are lines of it', async () => {
  const sessionId = await world.createSession();
  const content = ['/goal One', 'and two.'].map((text) => ({ type: 'text', text }));
  await world.send(sessionId, [{ type: 'user.message', content }]);
  expect(await readGoal(sessionId)).toMatchObject({ objective: 'One\nand two.' });
});

it('an archived session has no goal that is active', async () => {
  const sessionId = await world.createSession();
  await world.send(sessionId, [prompt('/goal One.')]);
  await markArchived(world.db, sessionId);
  expect(await readGoal(sessionId)).toMatchObject({ objective: 'One.', status: 'paused' });
});
