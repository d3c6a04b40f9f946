import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Agent } from '../../src/agents/contract/agents.ts';
import type { Session } from '../../src/agents/contract/sessions.ts';
import { startModelServer } from '../support/model-server/server.ts';
import { openConsole } from './open-console.ts';
import type { ConsoleServer } from './open-console.ts';

let site: ConsoleServer;
let agent: Agent;

beforeAll(async () => {
  site = await openConsole();
  agent = await site.call<Agent>('POST', '/v1/agents', {
    name: 'importer',
    modelName: 'script/demo',
    systemPrompt: 'Be brief.',
    skills: [],
    tools: [{ type: 'agent_toolset', defaultConfig: { permissionPolicy: { type: 'always_allow' } } }],
  });
});
afterAll(() => site.close());

test('a turn that hangs is stopped from the list, and its sandbox from its own', async () => {
  const session = await site.call<Session>('POST', '/v1/sessions', {
    agentId: agent.id,
    subjectId: 'eve',
    title: 'Hangs',
  });
  const text = 'run: until [ -e never ]; do sleep 0.1; done';
  await site.call('POST', `/v1/sessions/${session.id}/events`, {
    events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
  });
  const { page, context, faults } = await site.visit();
  await page.goto(`${site.url}/console/sandboxes`);
  await page.getByRole('row', { name: /running Hangs importer eve/ }).waitFor();
  await page.goto(`${site.url}/console/sessions`);
  await page
    .getByRole('row', { name: /running Hangs/ })
    .getByRole('button', { name: 'Stop' })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('row', { name: /idle Hangs/ }).waitFor();
  // Its sandbox is kept for a while, unless somebody ends it.
  await site.call('POST', `/v1/sessions/${session.id}/events`, {
    events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
  });
  await page.goto(`${site.url}/console/sandboxes`);
  await page.getByRole('row', { name: /Hangs/ }).getByRole('button', { name: 'Stop' }).click();
  const [stopped] = await Promise.all([
    page.waitForResponse((response) => response.request().method() === 'DELETE'),
    page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click(),
  ]);
  expect(stopped.status()).toBe(200);
  expect(faults).toEqual([]);
  await context.close();
});

test('a model is tried in each dialect, and the days of last week are one choice away', async () => {
  const { page, context, faults } = await site.visit();
  await page.goto(`${site.url}/console/models`);
  await page
    .getByRole('row', { name: /script\/demo/ })
    .getByRole('button', { name: 'Try' })
    .click();
  for (const dialect of ['chat', 'responses', 'messages']) {
    await page.getByRole('combobox', { name: 'Dialect' }).selectOption(dialect);
    await page.getByLabel('Message').fill(`Hello, ${dialect}`);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('.model-answer', { hasText: `You said: Hello, ${dialect}` }).waitFor();
  }
  await page.goto(`${site.url}/console/usage`);
  await page.getByRole('combobox', { name: 'Period' }).selectOption('last-week');
  await page.waitForURL(/from=/);
  const { searchParams } = new URL(page.url());
  const [from, to] = [searchParams.get('from'), searchParams.get('to')].map((day) => new Date(day ?? ''));
  expect([from?.getUTCDay(), to?.getUTCDay()]).toEqual([1, 0]);
  // Names instead of ids. The ledger is written a moment after a call.
  const readKeys = async () => {
    const { data } = await site.call<{ data: { keyId: string | null }[] }>('GET', '/v1/usage?groupBy=key&source=all');
    return data.filter(({ keyId }) => keyId !== null).length;
  };
  await expect.poll(readKeys).toBe(1);
  await page.goto(`${site.url}/console/usage?by=key`);
  await page.getByRole('row', { name: /^bootstrap/ }).waitFor();
  const budget = { limitUsd: 5, period: 'month', onReached: 'notify' };
  await site.call('PUT', `/v1/budgets/subject/${agent.id}:eve`, budget);
  await page.goto(`${site.url}/console/admin/budgets`);
  await page.getByRole('row', { name: /Subject eve of importer/ }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a provider is added, checked and deleted, and its state is shown', async () => {
  const upstream = await startModelServer();
  const own = await openConsole({ CAPSTAN_EGRESS_ALLOW: new URL(upstream.url).host });
  const { page, context, faults } = await own.visit();
  await page.goto(`${own.url}/console/models`);
  await page.getByText('Only the built-in script/demo answers.').waitFor();
  await page.getByRole('button', { name: 'Add a provider' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox', { name: 'Provider' }).selectOption('other');
  await dialog.getByLabel('Name, the first part').fill('acme');
  await dialog.getByLabel('Address').fill(upstream.url);
  await dialog.getByLabel('API key').fill('sk-not-shown');
  upstream.script(() => ({ status: 401, body: '{"error":{"message":"no"}}' }));
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.getByText('rejects').waitFor();
  upstream.script(({ path }) => (path.endsWith('/models') ? { body: '{"data":[{"id":"large"}]}' } : {}));
  await dialog.getByRole('button', { name: 'Add' }).click();
  const row = page.getByRole('row', { name: /working acme chat-completions the organization/ });
  await row.waitFor();
  expect(await page.content()).not.toContain('sk-not-shown');
  upstream.script(() => ({ status: 401, body: '{"error":{"message":"no"}}' }));
  await row.getByRole('button', { name: 'Check' }).click();
  await row.getByText('rejects').waitFor();
  upstream.script(() => ({ status: 500, body: '{"error":{"message":"broken"}}' }));
  const body = { model: 'acme/large', messages: [{ role: 'user', content: 'Hi' }] };
  for (let call = 0; call < 5; call += 1) {
    await own.call('POST', '/v1/chat/completions', body).catch(() => undefined);
  }
  await page.getByRole('row', { name: /failing acme/ }).waitFor();
  await page.getByRole('row', { name: /acme/ }).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Only the built-in script/demo answers.').waitFor();
  expect(faults).toEqual([]);
  await context.close();
  await own.close();
  await upstream.close();
});
