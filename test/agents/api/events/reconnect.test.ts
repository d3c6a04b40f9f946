import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { sendDelta } from '../../../../src/agents/channels.ts';
import type { Bus } from '../../../../src/platform/bus/bus.ts';
import { openMemoryBus } from '../../../../src/platform/bus/memory.ts';
import { openNats } from '../../../../src/platform/bus/nats.ts';
import type { EventEnvelope } from '../../../../src/agents/contract/events.ts';
import { listEvents } from '../../../../src/agents/store/events.ts';
import { openEmbeddedDatabase, openPostgresDatabase } from '../../../support/database.ts';
import { findService } from '../../../support/find-service.ts';
import { openClient } from './client.ts';
import type { Frame } from './client.ts';
import { buildRandom } from '../../../../src/platform/random.ts';
import { makeFlaky } from './flaky-bus.ts';
import { openReplica, openWorld } from './harness.ts';
import type { World } from './harness.ts';
import { append, buildEvent } from './worker.ts';

const CLIENTS = 20;
const CUTS = 50;
const undo: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** A worker that writes until it is stopped, with a minimum amount: deltas, their message, a tool call. */
async function talk(world: World, sessionId: string, isOver: () => boolean): Promise<void> {
  for (let round = 0; round < 40 || !isOver(); round += 1) {
    const pieces = ['first ', 'second ', `round ${round}`];
    const message = buildEvent({
      type: 'agent.message',
      delta: false,
      content: [{ type: 'text', text: pieces.join('') }],
    });
    for (const [n, text] of pieces.entries()) {
      const offset = pieces.slice(0, n).join('').length;
      const payload = { type: 'agent.message', id: message.id, delta: true, offset, content: [{ type: 'text', text }] };
      const frame = { id: message.id, type: 'agent.message', sessionId, sequence: 0, turnId: null, status: null };
      sendDelta(world.bus, world.organizationId, { ...frame, payload, processedAt: null, createdAt: '' });
    }
    await append(world, sessionId, { events: [message, buildEvent({ type: 'agent.tool_use' })] });
    await append(world, sessionId, { events: [buildEvent({ type: 'agent.tool_result' })] });
    await sleep(2);
  }
}

const textOf = ({ payload }: EventEnvelope) => (payload.content as { text: string }[] | undefined)?.[0]?.text ?? '';

/** An application that reads the session through many cuts and reconnects in a different way each time. */
async function follow(world: World, urls: readonly string[], sessionId: string, random: () => number) {
  const events: EventEnvelope[] = [];
  const faults: string[] = [];
  let seen: { id: string | undefined; sequence: number } | undefined;
  let last = 0;

  function take(event: EventEnvelope): void {
    if (event.sequence > last + 1) faults.push(`${event.sequence} came after ${last}`);
    if (event.sequence <= last) return;
    last = event.sequence;
    events.push(event);
  }

  async function connect(isLast: (event: EventEnvelope) => boolean, isFinal: boolean): Promise<void> {
    const url = urls[Math.floor(random() * urls.length)] ?? '';
    const choice = random();
    const mode = choice < 0.4 && seen !== undefined ? 'id' : choice < 0.7 ? 'after' : 'history';
    let early: Frame[] | null = mode === 'history' ? [] : null;
    let position = mode === 'id' ? seen?.sequence : mode === 'after' ? last : undefined;
    const sent = new Set<string>();
    const pieces = new Map<string, string>();
    const receive = (frame: Frame) => {
      const { data } = frame;
      if (data.payload.delta === true) {
        if (sent.has(data.id)) faults.push(`a delta came after its message ${data.id}`);
        pieces.set(data.id, (pieces.get(data.id) ?? '') + textOf(data));
        return;
      }
      // Within one stream each event arrives once, starting with the first one after the client's position.
      if (data.sequence !== (position ?? data.sequence - 1) + 1)
        faults.push(`${mode}: ${data.sequence} after ${position}`);
      position = data.sequence;
      if (!textOf(data).startsWith(pieces.get(data.id) ?? ''))
        faults.push(`${pieces.get(data.id)} does not begin ${data.id}`);
      seen = { id: frame.id, sequence: position };
      sent.add(data.id);
      if (early !== null) early.push(frame);
      else take(data);
    };
    const query = mode === 'after' ? `?after=${last}` : mode === 'id' ? '?after=0' : '';
    const source = { url, key: world.key, sessionId, query };
    const client = await openClient({ ...source, ...(mode === 'id' ? { lastEventId: seen?.id } : {}) }, receive);
    if (mode === 'history') {
      for (let hasMore = true; hasMore;) {
        const { body } = await world.list(sessionId, `?after=${last}`);
        body.data.forEach(take);
        hasMore = (body.pagination as { hasMore: boolean }).hasMore;
      }
      const held = early ?? [];
      early = null;
      for (const { data } of held) take(data);
    }
    if (isFinal) while (!isLast(events.at(-1)!)) await client.until(client.frames.length + 1);
    else await Promise.race([client.until(Math.floor(random() * 20)), sleep(random() * 40)]);
    client.cut();
    await client.ended;
  }

  return { events, faults, connect };
}

/** The events of the log, and those that each client received. */
async function runSuite(world: World, bus: Bus) {
  const random = buildRandom(7);
  const flaky = makeFlaky(bus, random);
  const replicas = [];
  for (let n = 0; n < 2; n += 1) {
    const replica = await openReplica({ db: world.db, limits: world.limits, bus: flaky });
    undo.push(() => replica.close());
    replicas.push(replica);
  }
  const urls = replicas.map((replica) => replica.url);
  const sessionId = await world.createSession();
  let isOver = false;
  const talking = talk(world, sessionId, () => isOver);
  const clients = await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      const client = await follow(world, urls, sessionId, random);
      for (let n = 0; n < CUTS; n += 1) await client.connect(() => true, false);
      return client;
    }),
  );
  isOver = true;
  await talking;
  const log: EventEnvelope[] = await listEvents(world.db, sessionId, 0, 1_000_000);
  const end = log.at(-1);
  await Promise.all(clients.map((client) => client.connect((event) => event?.id === end?.id, true)));
  for (const replica of replicas) {
    await expect.poll(async () => (await replica.metrics.streams.get()).values[0]?.value).toBe(0);
  }
  return { log, clients };
}

test(
  'a thousand cuts lose and double nothing, on a bus that loses, doubles and reorders',
  { timeout: 600_000 },
  async () => {
    const database = await openEmbeddedDatabase();
    undo.push(() => database.close());
    const world = await openWorld({ db: database.db, bus: openMemoryBus() });
    undo.push(() => world.close());
    const { log, clients } = await runSuite(world, world.bus);
    expect(log.length).toBeGreaterThan(100);
    for (const client of clients) {
      expect(client.faults).toEqual([]);
      expect(client.events).toEqual(log);
    }
  },
);

const postgres = await findService('postgres');
const nats = await findService('nats');
test.runIf(postgres && nats)('nor between processes', { timeout: 600_000 }, async () => {
  const database = await openPostgresDatabase(postgres ?? '');
  undo.push(() => database.close());
  const world = await openWorld({ db: database.db, bus: await openNats({ url: nats ?? '' }) });
  undo.push(() => world.close());
  const { log, clients } = await runSuite(world, world.bus);
  expect(log.length).toBeGreaterThan(100);
  for (const client of clients) {
    expect(client.faults).toEqual([]);
    expect(client.events).toEqual(log);
  }
});
