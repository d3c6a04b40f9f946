import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEmbeddedDatabase } from '../../../support/database.ts';
import type { TestDatabase } from '../../../support/database.ts';
import { openWorld } from './harness.ts';
import type { World } from './harness.ts';
import { append, buildEvent } from './worker.ts';

let database: TestDatabase;
let world: World;
let id: string;
const sequences = async (query: string) => {
  const { status, body } = await world.list(id, `?${query}`);
  return status === 200 ? body.data.map(({ sequence }) => sequence) : body['error'];
};

beforeAll(async () => {
  database = await openEmbeddedDatabase();
  world = await openWorld({ db: database.db });
  id = await world.createSession();
  const text = (said: string) => [{ type: 'text', text: said }];
  await append(world, id, {
    events: [
      buildEvent({ type: 'session.status_running' }),
      buildEvent({ type: 'agent.message', id: 'evt_a', delta: false, content: text('Paris "is" 100% far') }),
      buildEvent({ type: 'agent.tool_use', id: 'evt_b', name: 'read', thread_id: 'trd_1', input: { path: 'notes' } }),
      buildEvent({ type: 'agent.tool_result', tool_use_id: 'evt_b', name: 'read', thread_id: 'trd_1', content: [] }),
      buildEvent({ type: 'agent.message', id: 'evt_c', delta: false, content: text('done') }),
    ],
  });
});
afterAll(async () => {
  await world.close();
  await database.close();
});

test('a history is filtered by type, subagent and text', async () => {
  expect(await sequences('types=agent.message')).toEqual([2, 5]);
  expect(await sequences('types=agent.message,agent.tool_use')).toEqual([2, 3, 5]);
  expect(await sequences('threadId=trd_1')).toEqual([3, 4]);
  expect(await sequences('q=PARIS')).toEqual([2]);
  expect(await sequences(`q=${encodeURIComponent('"is" 100%')}`)).toEqual([2]);
  expect(await sequences('types=agent.message&after=2')).toEqual([5]);
});

test('the latest events come first when asked for, page by page', async () => {
  const page = async (query: string) => (await world.list(id, `?order=desc&limit=2${query}`)).body;
  const first = await page('');
  expect(first.data.map(({ sequence }) => sequence)).toEqual([5, 4]);
  expect(first['pagination']).toEqual({ after: 0, before: 4, hasMore: true, limit: 2 });
  expect((await page('&before=4')).data.map(({ sequence }) => sequence)).toEqual([3, 2]);
  const last = await page('&before=2');
  expect([last.data.length, last['pagination']]).toEqual([1, { after: 0, before: 1, hasMore: false, limit: 2 }]);
  expect((await page('&before=1'))['pagination']).toEqual({ after: 0, before: 1, hasMore: false, limit: 2 });
  expect(await sequences('before=3')).toEqual([1, 2]);
});

test('one event is read by its id', async () => {
  const path = `/v1/sessions/${id}/events`;
  const [, , use] = (await world.list(id)).body.data;
  expect((await world.request('GET', `${path}/${use?.id}`)).body).toEqual(use);
  expect((await world.request('GET', `${path}/evt_none`)).status).toBe(404);
  expect((await world.request('GET', `/v1/sessions/ses_none/events/${use?.id}`)).status).toBe(404);
});
