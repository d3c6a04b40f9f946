import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Agent } from '../../src/agents/contract/agents.ts';
import type { EventEnvelope } from '../../src/agents/contract/events.ts';
import type { Session } from '../../src/agents/contract/sessions.ts';
import type { ApiKeyCreated } from '../../src/platform/contract/keys.ts';
import { openConsole } from './open-console.ts';
import type { ConsoleServer } from './open-console.ts';

let site: ConsoleServer;
let agent: Agent;

beforeAll(async () => {
  site = await openConsole();
  agent = await site.call<Agent>('POST', '/v1/agents', {
    name: 'support',
    modelName: 'script/demo',
    systemPrompt: 'Be brief.',
    skills: [],
    tools: [{ type: 'agent_toolset', defaultConfig: { permissionPolicy: { type: 'always_ask' } } }],
  });
});
afterAll(() => site.close());

async function ask(title: string, text: string): Promise<Session> {
  const session = await site.call<Session>('POST', '/v1/sessions', { agentId: agent.id, subjectId: 'ada', title });
  await site.call('POST', `/v1/sessions/${session.id}/events`, {
    events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
  });
  await expect.poll(() => readStatus(session.id)).toBe('waiting_on_human');
  return session;
}

async function readStatus(id: string): Promise<string> {
  return (await site.call<Session>('GET', `/v1/sessions/${id}`)).status;
}

async function readAnswer(id: string): Promise<unknown> {
  const { data } = await site.call<{ data: EventEnvelope[] }>(
    'GET',
    `/v1/sessions/${id}/events?types=user.approval_response,user.clarify_result`,
  );
  return data[0]?.payload;
}

test('a key signs in, and three key presses anywhere approve the pending action', async () => {
  const session = await ask('Approve me', 'run: echo approved');
  const { page, context, faults } = await site.visit({ key: null });
  await page.goto(`${site.url}/`, { waitUntil: 'load' });
  await page.getByLabel('API key').fill('wrong-key');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('API key').fill(site.key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Approve me' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await page.getByRole('button', { name: 'Allow once' }).and(page.locator(':enabled')).waitFor();
  await page.keyboard.press('a');
  await page.getByText('Nothing waits.').waitFor();
  expect(await readAnswer(session.id)).toMatchObject({ result: 'allow', scope: 'once' });
  // The key is not in the page's storage.
  const stored = await page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
  );
  expect(stored).not.toContain(site.key);
  expect(faults).toEqual([]);
  await context.close();
});

test('a tap at 360 px denies with a reason', async () => {
  const session = await ask('Deny me', 'run: rm -rf build');
  const { page, context, faults } = await site.visit({ width: 360, height: 740, hasTouch: true });
  await page.goto(`${site.url}/console/inbox`);
  await page.locator('.ask-row').first().tap();
  await page.getByRole('button', { name: 'Deny' }).and(page.locator(':enabled')).tap();
  await page.getByLabel('Reason').fill('Build it again instead.');
  await page.getByRole('button', { name: 'Deny' }).tap();
  await expect.poll(() => readAnswer(session.id)).toMatchObject({ result: 'deny', message: 'Build it again instead.' });
  expect(faults).toEqual([]);
  await context.close();
});

test('a question is answered in its session, whose transcript follows live', async () => {
  const session = await ask('Question', 'ask: Which account?');
  const { page, context, faults } = await site.visit();
  await page.goto(`${site.url}/console/sessions/${session.id}`);
  await page.getByLabel('Your answer').fill('The second one');
  await page.getByRole('button', { name: 'Send', exact: true }).and(page.locator('.ask-card button:enabled')).click();
  await page.getByText('clarify: ').first().waitFor();
  expect(await readAnswer(session.id)).toMatchObject({ answer: 'The second one' });
  await page.getByLabel('Message').fill('Good morning');
  await page.getByLabel('Message').press('Enter');
  await page.getByText('You said: Good morning').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('a key that may only read sees no way to change anything', async () => {
  const session = await ask('Look only', 'run: date');
  const { key } = await site.call<ApiKeyCreated>('POST', '/v1/api-keys', { name: 'reader', scopes: ['agents:read'] });
  const { page, context, faults } = await site.visit({ key });
  await page.goto(`${site.url}/console/inbox`);
  await page.locator('.ask').waitFor();
  expect(await page.getByRole('button', { name: 'Allow once' }).count()).toBe(0);
  await page.goto(`${site.url}/console/sessions/${session.id}`);
  await page.getByText('Your key may read only.').waitFor();
  expect(await page.getByRole('link', { name: 'Playground' }).count()).toBe(0);
  expect(await page.getByRole('link', { name: 'API keys' }).count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test('a version is saved, compared and promoted', async () => {
  const { page, context, faults } = await site.visit();
  await page.goto(`${site.url}/console/agents/${agent.id}/overview`);
  await page.getByLabel('System prompt').fill('Be brief.\nBe friendly.');
  await page.getByRole('button', { name: 'Save version' }).click();
  await page.getByText('No change to version 1.').waitFor();
  await page.getByRole('link', { name: 'Versions' }).click();
  await page.locator('.diff-added', { hasText: 'Be friendly.' }).waitFor();
  await page.getByRole('button', { name: 'Promote' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Promote' }).click();
  await expect.poll(async () => (await site.call<Agent>('GET', `/v1/agents/${agent.id}`)).productionVersion).toBe(1);
  expect(faults).toEqual([]);
  await context.close();
});
