import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Agent } from '../../src/agents/contract/agents.ts';
import type { Session } from '../../src/agents/contract/sessions.ts';
import { openConsole } from './open-console.ts';
import type { ConsoleServer } from './open-console.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let site: ConsoleServer;
let routes: readonly (readonly [path: string, ready: string])[];

/** Each address, and what is on it once it is loaded. */
async function listRoutes(): Promise<typeof routes> {
  const { data: agents } = await site.call<{ data: Agent[] }>('GET', '/v1/agents');
  const { data: sessions } = await site.call<{ data: Session[] }>('GET', '/v1/sessions');
  const agent = agents.find(({ name }) => name === 'support')?.id ?? '';
  const reporter = agents.find(({ name }) => name === 'reporter')?.id ?? '';
  const find = (title: string) => sessions.find((session) => session.title === title)?.id ?? '';
  return [
    ['sessions', 'table.list tbody tr'],
    ['sessions?q=nothing-has-this-name', '.empty'],
    [`sessions/${find('Weekly report')}`, '.event'],
    [`sessions/${find('Weekly report')}?find=order`, '.match'],
    [`sessions/${find('Weekly report')}?types=calls`, '.match'],
    [`sessions/${find('Weekly report')}?view=timeline`, '.timeline-turn, .empty'],
    [`sessions/${find('Weekly report')}?view=raw`, '.raw-line'],
    [`sessions/${find('Delete old exports')}`, '.ask-card-open .answers'],
    [`sessions/${find('Import of contacts')}`, '.note-error'],
    ['sessions/ses_01m81zzn88ecy9rs3wbezc8mch', '.empty'],
    ['inbox', '.ask-row'],
    ['agents', 'table.list tbody tr'],
    [`agents/${agent}/overview`, 'form.form'],
    [`agents/${agent}/versions`, '.diff'],
    [`agents/${agent}/memory?subject=ada`, '.form .form textarea'],
    [`agents/${reporter}/files?subject=team-7`, 'table.list tbody tr'],
    [`agents/${agent}/vaults`, '.empty'],
    [`agents/${agent}/automations`, '.empty'],
    ['playground', '.playground-session button'],
    ['usage', '.chart'],
    ['automations', 'table.list tbody tr, .empty'],
    ['vaults', '.empty'],
    ['sandboxes', 'table.list tbody tr, .empty'],
    ['models', 'table.list tbody tr'],
    ['videos', '.video-card, .empty'],
    ['logins', '.empty'],
    ['admin/keys', 'table.list tbody tr'],
    ['admin/budgets', '.empty'],
    ['admin/audit', 'table.list tbody tr'],
    ['settings', '.facts'],
    ['nowhere', '.empty'],
  ];
}

/** What the rules of WCAG 2.2 AA find. A debugging protocol runs it, so that the policy of the page stays. */
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
  routes = await listRoutes();
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
