import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEgress } from '../../src/platform/egress/egress.ts';
import type { Egress } from '../../src/platform/egress/egress.ts';
import { launchBrowser } from '../../src/login/browser/browser.ts';
import type { LoginBrowser } from '../../src/login/browser/browser.ts';
import { openPrewarmedContext } from '../../src/login/browser/contexts.ts';
import { openFleet } from '../../src/login/browser/fleet.ts';
import { getChromium } from './harness.ts';

const log = pino({ level: 'silent' });
const options = { program: getChromium(), noSandbox: process.getuid?.() === 0 };
let egress: Egress;
let own: LoginBrowser;

beforeAll(async () => {
  egress = openEgress({ allow: [] });
  own = await launchBrowser(options, log);
});
afterAll(async () => {
  await own.close();
  await egress.close();
});

test('a context made ahead is given out once, and not where its page has crashed', async () => {
  const prewarmed = openPrewarmedContext({ own, egress });
  expect(await prewarmed.take()).toBeUndefined();
  prewarmed.prepare();
  prewarmed.prepare();
  const [first, second] = await Promise.all([prewarmed.take(), prewarmed.take()]);
  expect([first?.context.pages().length, second]).toEqual([1, undefined]);
  expect(own.browser.contexts()).toHaveLength(1);
  await Promise.all([first!.context.close(), first!.proxy.close()]);

  prewarmed.prepare();
  await expect.poll(() => own.browser.contexts().flatMap((context) => context.pages()).length).toBe(1);
  const [page] = own.browser.contexts()[0]!.pages();
  const crashed = page!.waitForEvent('crash');
  await page!.goto('chrome://crash').catch(() => undefined);
  await crashed;
  expect(await prewarmed.take()).toBeUndefined();
  await expect.poll(() => own.browser.contexts().length).toBe(0);
});

test('a browser stands ready before the first job once it is asked for', async () => {
  const fleet = openFleet({ egress, log }, { ...options, maxJobs: 1, warm: true });
  fleet.keepWarm();
  await expect.poll(() => fleet.pids().length).toBe(1);
  await fleet.close();
});

test('jobs get contexts of their own, empty, with the options that they ask for', async () => {
  const fleet = openFleet({ egress, log }, { ...options, maxJobs: 3, warm: true });
  const request = { organizationId: 'org', signal: AbortSignal.timeout(60_000) };
  const cookie = { name: 'a', value: 'b', domain: 'example.com', path: '/', expires: -1 };
  const stored = { ...cookie, httpOnly: false, secure: false, sameSite: 'Lax' as const };
  const [one, two, three] = await Promise.all([
    fleet.open(request),
    fleet.open(request),
    fleet.open({ ...request, storageState: { cookies: [stored], origins: [] } }),
  ]);
  const slots = [one, two, three];
  expect(new Set(slots.map(({ context }) => context)).size).toBe(3);
  expect(new Set(slots.map(({ proxy }) => proxy.url)).size).toBe(3);
  const cookies = await Promise.all(slots.map(({ context }) => context.cookies()));
  expect(cookies.map((each) => each.length)).toEqual([0, 0, 1]);
  await one.context.addCookies([stored]);
  await Promise.all(slots.map((slot) => slot.close()));
  const next = await fleet.open(request);
  expect(next.context.pages()).toHaveLength(1);
  expect(await next.context.cookies()).toEqual([]);
  await next.close();
  await fleet.close();
});
