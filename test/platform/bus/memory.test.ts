import { expect, it } from 'vitest';

import { openMemoryBus } from '../../../src/platform/bus/memory.ts';

const HOUR_MS = 3_600_000;

it('forgets entries older than an hour', async () => {
  let now = HOUR_MS;
  const bus = openMemoryBus({ now: () => now });
  await bus.publish('capstan.events.o.a', 1, 'one');
  now += HOUR_MS - 1;
  expect(await bus.replay('capstan.events.o.a', new Date(0))).toHaveLength(1);
  now += 1;
  expect(await bus.replay('capstan.events.o.a', new Date(0))).toEqual([]);
});

it('keeps the newest 5,000 messages of a subject', async () => {
  const bus = openMemoryBus();
  for (let n = 0; n < 5_010; n += 1) await bus.publish('capstan.events.o.a', n, `id${n}`);
  const kept = await bus.replay('capstan.events.o.a', new Date(0));
  expect(kept).toHaveLength(5_000);
  expect(kept[0]?.data).toBe(10);
});

it('keeps no more than its share of memory, the oldest of any subject going first', async () => {
  const bus = openMemoryBus({ maxCharacters: 100 });
  for (let n = 0; n < 10; n += 1) await bus.publish(`capstan.events.o.s${n % 2}`, 'x'.repeat(18), `id${n}`);
  expect(await bus.replay('capstan.events.o.s0', new Date(0))).toHaveLength(2);
  expect(await bus.replay('capstan.events.o.s1', new Date(0))).toHaveLength(3);
});
