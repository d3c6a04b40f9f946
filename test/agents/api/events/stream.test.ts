import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Bus } from '../../../../src/platform/bus/bus.ts';
import { openMemoryBus } from '../../../../src/platform/bus/memory.ts';
import { sha256 } from '../../../../src/platform/crypto.ts';
import { openEmbeddedDatabase } from '../../../support/database.ts';
import type { TestDatabase } from '../../../support/database.ts';
import { openClient } from './client.ts';
import { openReplica, openWorld, prompt, toolResult } from './harness.ts';
import type { World } from './harness.ts';
import { append, ask, buildEvent, endTurn } from './worker.ts';

const undo: (() => Promise<void>)[] = [];
let database: TestDatabase;
let world: World;
let sessionId: string;

async function openTestWorld(bus: Bus): Promise<World> {
  const opened = await openWorld({ db: database.db, bus });
  undo.push(() => opened.close());
  return opened;
}

beforeAll(async () => {
  database = await openEmbeddedDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  world = await openTestWorld(openMemoryBus());
  sessionId = await world.createSession();
});
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const source = (query = '', lastEventId?: string, url = world.replica.url) => ({
  url,
  key: world.key,
  sessionId,
  query,
  lastEventId,
});
const say = (text: string) => append(world, sessionId, { events: [buildEvent({ type: 'agent.message', text })] });
const sequences = (frames: { data: { sequence: number } }[]) => frames.map(({ data }) => data.sequence);

test('a stream without a position begins now, and its headers come before any event', async () => {
  await say('before');
  const client = await openClient(source());
  expect(client.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  });
  await say('after');
  const [frame] = await client.until(1);
  expect(client.retry).toBe(1000);
  expect(frame).toMatchObject({ event: 'agent.message', data: { sequence: 2, payload: { text: 'after' } } });
  expect(frame?.id).toMatch(/^[A-Za-z0-9_-]+$/);
  expect(frame?.data).toEqual((await world.list(sessionId, '?after=1')).body.data[0]);
});

test('a stream past a sequence replays the log, then goes live, with inbound events too', async () => {
  for (let n = 0; n < 205; n += 1) await say(`${n}`);
  const client = await openClient(source('?after=2'));
  await client.until(203);
  await world.send(sessionId, [prompt('hello')]);
  const frames = await client.until(205);
  expect(sequences(frames)).toEqual(Array.from({ length: 205 }, (_, n) => n + 3));
  expect(frames.slice(-2).map(({ event }) => event)).toEqual(['user.message', 'session.status_running']);
});

test('the last event id goes before the sequence; what is none is as good as absent', async () => {
  for (let n = 0; n < 4; n += 1) await say(`${n}`);
  const first = await openClient(source('?after=0'));
  const [, second] = await first.until(4);
  const resumed = await openClient(source('?after=0', second?.id));
  expect(sequences(await resumed.until(2))).toEqual([3, 4]);
  for (const broken of ['nonsense', '*', Buffer.from('-1.x').toString('base64url')]) {
    const client = await openClient(source('?after=3', broken));
    expect(sequences(await client.until(1))).toEqual([4]);
  }
});

test('events too large for the bus arrive whole', async () => {
  const client = await openClient(source());
  const text = 'x'.repeat(700_000);
  await say(text);
  await say('small');
  const frames = await client.until(2);
  expect(frames[0]?.data.payload.text).toHaveLength(text.length);
  expect(sequences(frames)).toEqual([1, 2]);
});

describe('updates of tool results', () => {
  async function startTool(): Promise<string> {
    const { body } = await world.send(sessionId, [prompt('go')]);
    const turnId = body.data[0]?.turnId ?? '';
    const [id = ''] = await ask(world, sessionId, turnId, ['agent.custom_tool_use']);
    await world.send(sessionId, [toolResult(id, 'working', 'running')]);
    await endTurn(world, sessionId, turnId);
    return id;
  }

  test.each([10, 19_000 * 30])('of %d characters are streamed once and replayed to who missed them', async (size) => {
    const id = await startTool();
    const blocks = Array.from({ length: Math.ceil(size / 19_000) }, () => ({
      type: 'text',
      text: 'y'.repeat(Math.min(size, 19_000)),
    }));
    const final = { ...toolResult(id, '', 'completed'), content: blocks };
    const client = await openClient(source('?after=0'));
    const before = (await client.until(6)).at(-1);
    const sent = await world.send(sessionId, [final]);
    const event_id = sent.body.data[0]?.id;
    const live = await client.until(8);
    expect(live.slice(-2).map(({ event }) => event)).toEqual(['session.tool_updated', 'session.status_running']);
    const update = live.find(({ event }) => event === 'session.tool_updated');
    expect(update?.data).toMatchObject({
      status: null,
      sequence: sent.body.data[0]?.sequence,
      payload: { type: 'session.tool_updated', tool_use_id: id, event_id, payload: final },
    });
    const missed = await openClient(source('', before?.id));
    const types = new Set((await missed.until(2)).map(({ event }) => event));
    expect(types).toEqual(new Set(['session.status_running', 'session.tool_updated']));
    const late = missed.frames.at(-1);
    const up = await openClient(source('', late?.id));
    await say('more');
    expect((await up.until(1)).map(({ event }) => event)).toEqual(['agent.message']);
    const history = await openClient(source('?after=0'));
    await say('end');
    expect((await history.until(9)).map(({ event }) => event)).not.toContain('session.tool_updated');
  });
});

test('a deleted session ends its streams', async () => {
  const client = await openClient(source());
  await world.db.query('DELETE FROM sessions WHERE id = $1', [sessionId]);
  await expect(client.ended).resolves.toBeUndefined();
});

test('a revoked key ends its streams', async () => {
  const client = await openClient(source());
  await world.db.query('UPDATE api_keys SET revoked_at = now() WHERE key_sha256 = $1', [sha256(world.key)]);
  await expect(client.ended).resolves.toBeUndefined();
});

test('a key with other scopes ends its streams', async () => {
  const client = await openClient(source());
  await world.db.query(`UPDATE api_keys SET scopes = '{agents:read}' WHERE key_sha256 = $1`, [sha256(world.key)]);
  await expect(client.ended).resolves.toBeUndefined();
});

test('a position past the end holds nothing back', async () => {
  await say('before');
  const client = await openClient(source('?after=9999'));
  await say('after');
  expect(sequences(await client.until(1))).toEqual([2]);
});

test('a closing server ends its streams', async () => {
  const replica = await openReplica(world);
  const clients = [
    await openClient(source('', undefined, replica.url)),
    await openClient(source('', undefined, replica.url)),
  ];
  await replica.close();
  for (const client of clients) await expect(client.ended).resolves.toBeUndefined();
});

test('a slow client is disconnected and resumes where it was', async () => {
  const client = await openClient(source('?after=0'));
  await say('first');
  await client.until(1);
  client.pause();
  let written = 1;
  const open = async () => (await world.replica.metrics.streams.get()).values[0]?.value;
  for (; (await open()) === 1 && written < 500; written += 1) await say('z'.repeat(200_000));
  expect(await open()).toBe(0);
  client.resume();
  await client.ended;
  const got = client.frames.at(-1);
  expect(got?.data.sequence).toBeLessThan(written);
  const next = await openClient(source('', got?.id));
  const all = [...client.frames, ...(await next.until(written - client.frames.length))];
  expect(sequences(all)).toEqual(Array.from({ length: written }, (_, n) => n + 1));
});

test('a slow client gets a long history whole', async () => {
  for (let n = 0; n < 60; n += 1) await say('z'.repeat(200_000));
  const client = await openClient(source('?after=0'));
  client.pause();
  await expect.poll(() => client.isFull()).toBe(true);
  client.resume();
  expect(await client.until(60)).toHaveLength(60);
});

test('events come without the bus, a sweep later', async () => {
  const deaf = { ...openMemoryBus(), subscribe: () => Promise.resolve({ close: () => {} }) };
  world = await openTestWorld(deaf);
  sessionId = await world.createSession();
  const client = await openClient(source());
  await say('one');
  await say('two');
  expect(sequences(await client.until(2))).toEqual([1, 2]);
});

test('a bus that does not answer delays a stream by two seconds at most', async () => {
  const bus = openMemoryBus();
  const stuck: Bus = { ...bus, subscribe: () => new Promise(() => {}), replay: () => new Promise(() => {}) };
  const replica = await openReplica({ ...world, bus: stuck });
  undo.push(() => replica.close());
  await say('one');
  const first = await openClient(source('?after=0', undefined, replica.url));
  const [frame] = await first.until(1);
  const client = await openClient(source('', frame?.id, replica.url));
  await say('two');
  expect(sequences(await client.until(1))).toEqual([2]);
});

test('all streams of a session share one watch, which ends with the last', async () => {
  const { bus } = world;
  const open = new Set<symbol>();
  const counting: Bus = {
    ...bus,
    subscribe: async (...args) => {
      const watch = Symbol(args[0]);
      const subscription = await bus.subscribe(...args);
      open.add(watch);
      return {
        close: () => {
          open.delete(watch);
          subscription.close();
        },
      };
    },
  };
  const replica = await openReplica({ ...world, bus: counting });
  undo.push(() => replica.close());
  const clients = await Promise.all(Array.from({ length: 5 }, () => openClient(source('', undefined, replica.url))));
  expect(open.size).toBe(2);
  await say('to all');
  for (const client of clients) expect(sequences(await client.until(1))).toEqual([1]);
  for (const client of clients) client.cut();
  await expect.poll(() => open.size).toBe(0);
});
