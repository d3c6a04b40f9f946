import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEmbeddedDatabase } from '../../support/database.ts';
import type { TestDatabase } from '../../support/database.ts';
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

const LONG = 'x'.repeat(20_000);
const block = (text: unknown) => ({ type: 'text', text });
const message = (fields: object) => ({ type: 'user.message', content: [block('x')], ...fields });
const note = (index: number) => ({
  type: 'file',
  filename: `${index}.txt`,
  mediaType: 'text/plain',
  sizeBytes: 1,
  source: { type: 'data_url', dataUrl: 'data:text/plain;base64,eA==' },
});
const approval = { type: 'user.approval_response', approval_id: 'evt_x', result: 'allow' };
const result = { type: 'user.custom_tool_result', tool_use_id: 'evt_x', content: [block('x')] };
const many = <T>(count: number, build: (index: number) => T): T[] => Array.from({ length: count }, (_, n) => build(n));

test.each<[unknown[], string]>([
  [[], 'events: must'],
  [many(101, () => ({ type: 'user.steer', message: 'x' })), 'events: must'],
  [[prompt('x'), prompt('y')], 'events: must hold at most one user.message'],
  [[{ type: 'user.shout' }], 'events[0].type: must'],
  [[message({ content: undefined })], 'events[0].content: is required'],
  [[message({ content: [] })], 'events[0].content: must'],
  [[message({ content: many(101, () => block('x')) })], 'events[0].content: must'],
  [[message({ content: [block('')] })], 'events[0].content[0].text: must'],
  [[message({ content: [block('x'), block(`${LONG}x`)] })], 'events[0].content[1].text: must'],
  [[message({ attachments: many(11, note) })], 'events[0].attachments: must'],
  [[message({ metadata: 'x' })], 'events[0].metadata: must'],
  [[{ type: 'user.steer' }], 'events[0].message: is required'],
  [[{ type: 'user.steer', message: '' }], 'events[0].message: must'],
  [[{ type: 'user.steer', message: `${LONG}x` }], 'events[0].message: must'],
  [[{ type: 'user.interrupt', message: '' }], 'events[0].message: must'],
  [[{ type: 'user.interrupt', message: `${LONG}x` }], 'events[0].message: must'],
  [[{ ...approval, approval_id: undefined }], 'events[0].approval_id: is required'],
  [[{ ...approval, result: 'maybe' }], 'events[0].result: must'],
  [[{ ...approval, scope: 'forever' }], 'events[0].scope: must'],
  [[{ ...result, tool_use_id: undefined }], 'events[0].tool_use_id: is required'],
  [[{ ...result, content: [block(`${LONG}x`)] }], 'events[0].content[0].text: must'],
  [[{ ...result, status: 'done' }], 'events[0].status: must'],
  [[{ ...result, is_error: 'yes' }], 'events[0].is_error: must'],
  [[{ type: 'user.clarify_result', answer: '' }], 'events[0].request_id: is required'],
  [[{ type: 'user.clarify_result', request_id: 'evt_x' }], 'events[0].answer: is required'],
])('a request is refused whole for %#: %j', async (events, start) => {
  const sessionId = await world.createSession();
  const { status, body } = await world.send(sessionId, events);
  expect({ status, ...body }).toMatchObject({ status: 400, error: 'validation_error' });
  expect(
    String(body.message)
      .split('; ')
      .filter((part) => part.startsWith(start)),
  ).toHaveLength(1);
  expect((await world.list(sessionId)).body.data).toEqual([]);
});

test.each([
  ['a text of 20,000 characters in each of 100 blocks', message({ content: many(100, () => block(LONG)) })],
  ['ten attachments', message({ attachments: many(10, note) })],
])('%s are accepted', async (_name, event) => {
  const sessionId = await world.createSession();
  expect((await world.send(sessionId, [event])).status).toBe(200);
});
