import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Session } from '../../src/agents/contract/sessions.ts';
import type { ApiKeyCreated } from '../../src/platform/contract/keys.ts';
import { openConsole } from './open-console.ts';
import type { ConsoleServer } from './open-console.ts';
import { listRoutes } from './routes.ts';
import type { ConsoleRoute } from './routes.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// Each test opens every route: minutes on a busy machine.
vi.setConfig({ testTimeout: 900_000 });

let site: ConsoleServer;
let routes: readonly ConsoleRoute[];

/**
 * Violations of WCAG 2.2 AA. The check runs through the debugging protocol, so that the page's policy stays in force.
 */
async function findViolations(page: Page): Promise<string[]> {
  const client = await page.context().newCDPSession(page);
  const run = async (expression: string) =>
    await client.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
  await run(AXE);
  const tags = JSON.stringify(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']);
  const { result } = await run(
    `axe.run(document, { runOnly: ${tags} }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(' | ')))`,
  );
  await client.detach();
  return Array.isArray(result.value) ? (result.value as string[]) : [`axe did not run: ${JSON.stringify(result)}`];
}

beforeAll(async () => {
  site = await openConsole();
  const { code, err } = await site.server.capstan(['demo']);
  if (code !== 0) throw new Error(err);
  routes = await listRoutes(site);
});
afterAll(() => site.close());

test('the demo has sessions in every state, and is not made twice', async () => {
  const { data } = await site.call<{ data: Session[] }>(
    'GET',
    '/v1/sessions?status=idle,running,waiting_on_human,archived',
  );
  const states = new Set(data.map(({ status }) => status));
  expect([...states].sort()).toEqual(['archived', 'idle', 'running', 'waiting_on_human']);
  expect(data.filter(({ lastStopReason }) => lastStopReason?.type === 'error').map(({ title }) => title)).toEqual([
    'Import of contacts',
  ]);
  expect((await site.server.capstan(['demo'])).code).toBe(1);
});

test.each([
  [1280, 'light'],
  [1280, 'dark'],
  [360, 'light'],
  [360, 'dark'],
] as const)(
  'every page at %i px in the %s theme keeps the rules of accessibility and the policy',
  async (width, colorScheme) => {
    const { page, context, faults } = await site.visit({ width, height: 800, colorScheme });
    const found: string[] = [];
    for (const [path, ready] of routes) {
      await page.goto(`${site.url}/console/${path}`);
      await page.waitForSelector(`main ${ready}`);
      const isWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
      if (isWide) found.push(`${path}: wider than the screen`);
      found.push(...(await findViolations(page)).map((text) => `${path}: ${text}`));
    }
    expect(found).toEqual([]);
    expect(faults).toEqual([]);
    await context.close();
  },
);

/** Pages that a key which may only read is not led to. */
const OTHERS = /^(?:playground|admin\/(?:keys|audit|organizations|status))/;

test('the server refuses nothing that a button of a read-only key does', async () => {
  const scopes = ['agents:read', 'services:read'];
  const { key } = await site.call<ApiKeyCreated>('POST', '/v1/api-keys', { name: 'reader', scopes });
  const { page, context, faults } = await site.visit({ key });
  const refused: string[] = [];
  page.on('response', (response) => {
    if (response.status() === 403) refused.push(`${page.url()}: ${response.request().method()} ${response.url()}`);
  });
  const seen = new Set<string>();
  for (const [path] of routes.filter(([each]) => !OTHERS.test(each) && !each.includes('?'))) {
    await page.goto(`${site.url}/console/${path}`);
    await page.locator('main h1, main .empty').first().waitFor();
    // Streams keep the network busy; buttons that come later are not tried.
    await page.waitForLoadState('networkidle', { timeout: 1000 }).catch(() => undefined);
    const buttons = page.locator('main button:enabled');
    for (const name of new Set(await buttons.allInnerTexts())) {
      if (name === '' || seen.has(`${path} ${name}`)) continue;
      seen.add(`${path} ${name}`);
      const button = buttons.filter({ hasText: name }).first();
      if (await button.isVisible()) await button.click({ timeout: 1000 }).catch(() => undefined);
      await page.keyboard.press('Escape');
    }
  }
  expect(seen.size).toBeGreaterThan(5);
  expect(refused).toEqual([]);
  expect(faults).toEqual([]);
  await context.close();
});

test('at twice the size and with longer texts nothing is wider than the screen', async () => {
  const { page, context, faults } = await site.visit({ width: 640, height: 400 });
  await page.addInitScript("localStorage.setItem('capstan.locale', 'pseudo')");
  const wide: string[] = [];
  for (const [path, ready] of routes) {
    await page.goto(`${site.url}/console/${path}`);
    await page.waitForSelector(`main ${ready}`);
    if (await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')) wide.push(path);
  }
  expect(wide).toEqual([]);
  expect(faults).toEqual([]);
  await context.close();
});
