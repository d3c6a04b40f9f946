import { afterAll, beforeAll, expect, test } from 'vitest';
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
const attached = (fields: object) => [message({ attachments: [{ ...note(0), ...fields }] })];
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
  [[message({ metadata: { a: { b: 1 } } })], 'events[0].metadata.*: must'],
  [[message({ metadata: { a: ['b'] } })], 'events[0].metadata.*: must'],
  [[message({ content: 'x' })], 'events[0].content: must'],
  [[message({ content: [{ type: 'image', text: 'x' }] })], 'events[0].content[0].type: must'],
  [attached({ type: 'image' }), 'events[0].attachments[0].type: must'],
  [attached({ filename: undefined }), 'events[0].attachments[0].filename: is required'],
  [attached({ mediaType: undefined }), 'events[0].attachments[0].mediaType: is required'],
  [attached({ mediaType: 'application/zip' }), 'events[0].attachments[0].mediaType: must'],
  [attached({ mediaType: 'text/csv' }), 'events[0].attachments[0].source.dataUrl: must have the type of mediaType'],
  [attached({ sizeBytes: 2 }), 'events[0].attachments[0].sizeBytes: must equal the decoded size'],
  [attached({ sizeBytes: 40_000_001 }), 'events[0].attachments[0].sizeBytes: must be at most'],
  [attached({ source: undefined }), 'events[0].attachments[0].source: is required'],
  [attached({ source: { type: 'url', url: 'x' } }), 'events[0].attachments[0].source.type: must'],
  [attached({ source: { type: 'data_url' } }), 'events[0].attachments[0].source.dataUrl: is required'],
  [
    attached({ source: { type: 'data_url', dataUrl: 'data:text/plain,x' } }),
    'events[0].attachments[0].source.dataUrl: must',
  ],
  [attached({ analysisMode: 'visual' }), 'events[0].attachments[0].analysisMode: must'],
  [attached({ analysisMode: 'deep' }), 'events[0].attachments[0].analysisMode: must'],
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

test.each<[unknown, string]>([
  [undefined, 'events: is required'],
  [prompt('x'), 'events: must'],
])('events that are %j are refused', async (events, start) => {
  const path = `/v1/sessions/${await world.createSession()}/events`;
  const { status, body } = await world.request('POST', path, { events });
  expect([status, body.error, body.message]).toEqual([400, 'validation_error', expect.stringContaining(start)]);
});

test.each([
  [{ delivery: 'later' }, 'delivery: must'],
  [{ delivery: 'when_idle' }, 'events[1].type: must'],
])('a request with %j and a control event is refused', async (more, start) => {
  const sessionId = await world.createSession();
  const { status, body } = await world.send(sessionId, [prompt('x'), { type: 'user.steer', message: 'x' }], {}, more);
  expect([status, body.error, body.message]).toEqual([400, 'validation_error', expect.stringContaining(start)]);
});

test('a refusal names every fault, and no value', async () => {
  const sessionId = await world.createSession();
  const { body } = await world.send(sessionId, [
    { type: 'user.steer', message: `CANARY${LONG}` },
    { ...approval, result: 'CANARY' },
  ]);
  const faults = String(body.message).split('; ');
  expect(faults.map((fault) => fault.split(':')[0])).toEqual(['events[0].message', 'events[1].result']);
  expect(faults[0]).toContain('20000');
  expect(JSON.stringify(body)).not.toContain('CANARY');
});

test('the name of an attachment is cleaned for display', async () => {
  const sessionId = await world.createSession();
  const { body } = await world.send(sessionId, attached({ filename: '../../etc/\u202e[pass]wd\n.txt' }));
  expect(body.data[0]?.payload['attachments']).toEqual([{ ...note(0), filename: 'passwd.txt' }]);
});
