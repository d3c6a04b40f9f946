import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Agent } from '../../src/agents/contract/agents.ts';
import type { Session } from '../../src/agents/contract/sessions.ts';
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
  expect(faults).toEqual([]);
  await context.close();
});
