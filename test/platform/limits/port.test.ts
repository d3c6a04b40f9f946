import { randomBytes } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Limits } from '../../../src/platform/limits/limits.ts';
import { openMemoryLimits } from '../../../src/platform/limits/memory.ts';
import { openRedis } from '../../../src/platform/limits/redis.ts';
import { findService } from '../../support/find-service.ts';

const redisUrl = await findService('redis');

const ADAPTERS = [
  { name: 'redis', installed: redisUrl !== undefined, open: () => openRedis({ url: redisUrl ?? '' }) },
  { name: 'memory', installed: true, open: (): Promise<Limits> => Promise.resolve(openMemoryLimits()) },
];

const MINUTE_MS = 60_000;

describe.each(ADAPTERS.filter(({ installed }) => installed))('limits on $name', ({ open }) => {
  let limits: Limits;
  beforeAll(async () => {
    limits = await open();
  });
  afterAll(() => limits.close());
  const newKey = () => `org_1:${randomBytes(6).toString('hex')}`;

  it('takes points until the limit, and then none', async () => {
    const key = newKey();
    expect(await limits.take(key, 1, 3, MINUTE_MS)).toMatchObject({ allowed: true, limit: 3, remaining: 2 });
    expect(await limits.take(key, 2, 3, MINUTE_MS)).toMatchObject({ allowed: true, limit: 3, remaining: 0 });
    expect(await limits.take(key, 1, 3, MINUTE_MS)).toMatchObject({ allowed: false, limit: 3, remaining: 0 });
  });

  it('takes all the points asked for or none of them', async () => {
    const key = newKey();
    await limits.take(key, 2, 3, MINUTE_MS);
    expect(await limits.take(key, 2, 3, MINUTE_MS)).toMatchObject({ allowed: false, remaining: 1 });
    expect(await limits.take(key, 1, 3, MINUTE_MS)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('opens a window with the first point taken, not with a look or a refusal', async () => {
    const key = newKey();
    const untouched = { remaining: 3, resetMs: MINUTE_MS };
    expect(await limits.take(key, 0, 3, MINUTE_MS)).toMatchObject({ ...untouched, allowed: true });
    expect(await limits.take(key, 4, 3, MINUTE_MS)).toMatchObject({ ...untouched, allowed: false });
    await limits.take(key, 1, 3, MINUTE_MS);
    const left = async () => (await limits.take(key, 0, 3, MINUTE_MS)).resetMs;
    await expect.poll(left).toBeLessThan(MINUTE_MS);
    expect(await left()).toBeGreaterThan(0);
  });

  it('does not lengthen a window by taking more', async () => {
    const key = newKey();
    await limits.take(key, 1, 3, MINUTE_MS);
    expect((await limits.take(key, 1, 3, 10 * MINUTE_MS)).resetMs).toBeLessThanOrEqual(MINUTE_MS);
  });

  it('starts anew when the window has ended', async () => {
    const key = newKey();
    await limits.take(key, 3, 3, 40);
    await expect.poll(async () => (await limits.take(key, 1, 3, MINUTE_MS)).allowed).toBe(true);
    expect(await limits.take(key, 0, 3, MINUTE_MS)).toMatchObject({ remaining: 2 });
  });

  it('counts each key separately', async () => {
    const key = newKey();
    await limits.take(key, 3, 3, MINUTE_MS);
    expect(await limits.take(newKey(), 1, 3, MINUTE_MS)).toMatchObject({ allowed: true, remaining: 2 });
  });

  it('follows a limit that was changed meanwhile', async () => {
    const key = newKey();
    await limits.take(key, 3, 3, MINUTE_MS);
    expect(await limits.take(key, 1, 5, MINUTE_MS)).toMatchObject({ allowed: true, remaining: 1 });
    expect(await limits.take(key, 1, 2, MINUTE_MS)).toMatchObject({ allowed: false, remaining: 0 });
  });

  it('gives points back, never more than were taken, and opens no window by it', async () => {
    const key = newKey();
    await limits.refund(key, 5);
    expect(await limits.take(key, 2, 3, MINUTE_MS)).toMatchObject({ remaining: 1 });
    await limits.refund(key, 1);
    expect(await limits.take(key, 0, 3, MINUTE_MS)).toMatchObject({ remaining: 2 });
    await limits.refund(key, 9);
    expect(await limits.take(key, 0, 3, MINUTE_MS)).toMatchObject({ remaining: 3 });
    await limits.take(key, 3, 3, MINUTE_MS);
    expect(await limits.take(key, 1, 3, MINUTE_MS)).toMatchObject({ allowed: false });
  });

  it('lets exactly the limit through under concurrent takes', async () => {
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 60 }, () => limits.take(key, 1, 25, MINUTE_MS)));
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(25);
    expect(new Set(answers.filter(({ allowed }) => allowed).map(({ remaining }) => remaining)).size).toBe(25);
  });

  it('answers a ping', async () => {
    await expect(limits.ping()).resolves.toBeUndefined();
  });
});
