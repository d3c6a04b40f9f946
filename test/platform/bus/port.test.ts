import { randomBytes } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import type { Bus, BusMessage } from '../../../src/platform/bus/bus.ts';
import { openMemoryBus } from '../../../src/platform/bus/memory.ts';
import { openNats } from '../../../src/platform/bus/nats.ts';
import { findService } from '../../support/find-service.ts';

const natsUrl = await findService('nats');

/** Two clients, which on NATS are two processes' connections. */
type Ends = { near: Bus; far: Bus };

const ADAPTERS = [
  {
    name: 'nats',
    installed: natsUrl !== undefined,
    open: async (): Promise<Ends> => ({
      near: await openNats({ url: natsUrl ?? '' }),
      far: await openNats({ url: natsUrl ?? '' }),
    }),
  },
  {
    name: 'memory',
    installed: true,
    open: (): Promise<Ends> => {
      const bus = openMemoryBus();
      return Promise.resolve({ near: bus, far: bus });
    },
  },
];

describe.each(ADAPTERS.filter(({ installed }) => installed))('the bus on $name', ({ open }) => {
  let near: Bus;
  let far: Bus;
  beforeAll(async () => {
    ({ near, far } = await open());
  });
  afterAll(async () => {
    await near.close();
    await far.close();
  });

  const newId = () => randomBytes(8).toString('hex');
  const newSubject = () => `test.${newId()}`;
  const newEvents = () => `capstan.events.org_1.${newId()}`;
  const listen = async (subject: string, options?: { queue?: string }) => {
    const heard: BusMessage[] = [];
    const subscription = await far.subscribe(subject, (message) => heard.push(message), options);
    return { heard, subscription };
  };
  /** Resolves once everything sent so far has been delivered. */
  const settle = async () => {
    const subject = `settle.${newId()}`;
    const arrived = Promise.withResolvers<void>();
    const subscription = await far.subscribe(subject, () => arrived.resolve());
    near.send(subject, {});
    await arrived.promise;
    subscription.close();
  };

  it('delivers messages in order to every subscriber', async () => {
    const subject = newSubject();
    const [one, two] = [await listen(subject), await listen(subject)];
    for (let n = 0; n < 50; n += 1) near.send(subject, { n });
    await settle();
    const expected = Array.from({ length: 50 }, (_, n) => ({ subject, data: { n } }));
    expect(one.heard).toEqual(expected);
    expect(two.heard).toEqual(expected);
  });

  it('delivers published messages in order with the same sender’s other messages', async () => {
    const [subject, sent] = [newEvents(), newSubject()];
    const heard: unknown[] = [];
    for (const name of [subject, sent]) await far.subscribe(name, ({ data }) => heard.push(data));
    const kept: Promise<void>[] = [];
    for (let n = 0; n < 20; n += 2) {
      near.send(sent, n);
      kept.push(near.publish(subject, n + 1, newId()));
    }
    await Promise.all(kept);
    await settle();
    expect(heard).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });

  it('does not deliver before the sender has gone on', async () => {
    const subject = newSubject();
    const { heard } = await listen(subject);
    near.send(subject, 1);
    expect(heard).toEqual([]);
    await settle();
    expect(heard).toEqual([{ subject, data: 1 }]);
  });

  it('delivers a copy, as JSON has it', async () => {
    const subject = newSubject();
    const { heard } = await listen(subject);
    const data = { at: new Date(0), list: ['ü', null], gone: undefined };
    near.send(subject, data);
    data.list.push('too late');
    await settle();
    expect(heard).toEqual([{ subject, data: { at: '1970-01-01T00:00:00.000Z', list: ['ü', null] } }]);
    expect(Object.keys(heard[0]?.data as object)).toEqual(['at', 'list']);
  });

  it('delivers everything below a wildcard and nothing beside it', async () => {
    const root = `tree${newId()}`;
    const { heard } = await listen(`${root}.a.>`);
    for (const subject of ['a.b', 'a.b.c', 'a', 'ab.c', 'b.a']) near.send(`${root}.${subject}`, null);
    await settle();
    expect(heard.map(({ subject }) => subject)).toEqual([`${root}.a.b`, `${root}.a.b.c`]);
  });

  it('rejects sending on durable subjects, and publishing on others', async () => {
    expect(() => near.send(newEvents(), 1)).toThrow(TypeError);
    await expect(near.publish(newSubject(), 1, newId())).rejects.toThrow(TypeError);
  });

  it('delivers each message to one member of a group, and to those outside of it', async () => {
    const subject = newSubject();
    const members = [await listen(subject, { queue: 'workers' }), await listen(subject, { queue: 'workers' })];
    const other = await listen(subject, { queue: 'auditors' });
    const outside = await listen(subject);
    for (let n = 0; n < 40; n += 1) near.send(subject, n);
    await settle();
    const shares = members.map(({ heard }) => heard.map(({ data }) => data as number));
    expect(shares.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, n) => n));
    expect(Math.min(...shares.map(({ length }) => length))).toBeGreaterThan(0);
    expect(other.heard).toHaveLength(40);
    expect(outside.heard).toHaveLength(40);
  });

  it('delivers nothing to a closed subscription', async () => {
    const subject = newSubject();
    const { heard, subscription } = await listen(subject);
    near.send(subject, 1);
    await settle();
    subscription.close();
    near.send(subject, 2);
    await settle();
    expect(heard.map(({ data }) => data)).toEqual([1]);
  });

  it('continues after a handler threw', async () => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const subject = newSubject();
    const heard: unknown[] = [];
    await far.subscribe(subject, ({ data }) => {
      heard.push(data);
      throw new Error('a bug');
    });
    near.send(subject, 1);
    near.send(subject, 2);
    await settle();
    expect(heard).toEqual([1, 2]);
    expect(warn).toHaveBeenCalledTimes(2);
    warn.mockRestore();
  });

  it('replays messages published since a time under exactly that subject, oldest first', async () => {
    const subject = newEvents();
    await near.publish(subject, { n: 0 }, newId());
    await new Promise((resolve) => setTimeout(resolve, 20));
    const since = new Date();
    for (let n = 1; n <= 120; n += 1) await near.publish(subject, { n }, newId());
    await near.publish(`${subject}x`, 'elsewhere', newId());
    const replayed = await far.replay(subject, since);
    expect(replayed).toEqual(Array.from({ length: 120 }, (_, n) => ({ subject, data: { n: n + 1 } })));
    expect(await far.replay(subject, new Date(0))).toHaveLength(121);
  });

  it('replays nothing where nothing was published', async () => {
    expect(await far.replay(newEvents(), new Date(0))).toEqual([]);
  });

  it('keeps a repeated publish once', async () => {
    const subject = newEvents();
    const id = newId();
    await near.publish(subject, 'once', id);
    await near.publish(subject, 'once', id);
    expect(await far.replay(subject, new Date(0))).toEqual([{ subject, data: 'once' }]);
  });

  it('sends without subscribers, and answers a ping', async () => {
    near.send(newSubject(), 1);
    await expect(near.ping()).resolves.toBeUndefined();
  });
});
