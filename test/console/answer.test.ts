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

/** A session of a subject of its own, because the sessions of a subject are limited. */
async function ask(title: string, text: string): Promise<Session> {
  const subjectId = `ada-${title.toLowerCase().replaceAll(' ', '-')}`;
  const session = await site.call<Session>('POST', '/v1/sessions', { agentId: agent.id, subjectId, title });
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

test('an answer that fails is named in the inbox, and its action is there again', async () => {
  const lost = await ask('Lost answer', 'run: echo lost');
  const { page, context } = await site.visit();
  const sent = `**/v1/sessions/${lost.id}/events`;
  await page.route(sent, (route) => route.abort());
  await page.goto(`${site.url}/console/inbox`);
  const row = page.getByRole('link', { name: /echo lost/ });
  await row.click();
  await page.getByRole('heading', { name: 'terminal' }).waitFor();
  const allow = page.getByRole('button', { name: 'Allow once' }).and(page.locator(':enabled'));
  await page.getByRole('link', { name: 'Lost answer' }).waitFor();
  await allow.click();
  await page.getByText('Your answer to terminal was not accepted').waitFor();
  await row.waitFor();
  await page.unroute(sent);
  // Somebody else is faster.
  await page.route(sent, async (route) => {
    const { pendingActions } = await site.call<Session>('GET', `/v1/sessions/${lost.id}`);
    const events = [{ type: 'user.approval_response', approval_id: pendingActions[0]?.eventId, result: 'deny' }];
    await site.call('POST', `/v1/sessions/${lost.id}/events`, { events });
    await route.continue();
  });
  await row.click();
  await page.getByRole('link', { name: 'Lost answer' }).waitFor();
  await allow.click();
  await page.getByText('bootstrap has answered this already.').waitFor();
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await expect.poll(() => page.getByRole('alert').count()).toBe(0);
  await context.close();
});

test('Enter answers a question, and the version in production is compared with the latest', async () => {
  const session = await ask('Enter', 'ask: Which one?');
  const { page, context, faults } = await site.visit();
  await page.goto(`${site.url}/console/inbox`);
  await page.getByRole('link', { name: /Which one/ }).click();
  await page.getByLabel('Your answer').fill('This one');
  await page.getByRole('button', { name: 'Send' }).and(page.locator(':enabled')).waitFor();
  await page.getByLabel('Your answer').press('Enter');
  await expect.poll(() => readAnswer(session.id)).toMatchObject({ answer: 'This one' });
  for (const systemPrompt of ['First change.', 'Second change.']) {
    await site.call('PATCH', `/v1/agents/${agent.id}`, { systemPrompt });
  }
  const { productionVersion } = await site.call<Agent>('GET', `/v1/agents/${agent.id}`);
  await page.goto(`${site.url}/console/agents/${agent.id}/versions`);
  expect(await page.getByRole('combobox', { name: 'From' }).inputValue()).toBe(String(productionVersion));
  expect(await page.title()).toBe('support · Capstan');
  expect(faults).toEqual([]);
  await context.close();
});

test('the palette finds an old session by its title, and the tab is named after the page', async () => {
  for (const title of ['The oldest one', 'A newer one']) {
    await site.call('POST', '/v1/sessions', { agentId: agent.id, subjectId: title.slice(0, 3), title });
  }
  const { page, context, faults } = await site.visit();
  // The first page of the list is full with one.
  await page.route(/\/v1\/sessions\?/, async (route) => {
    const url = new URL(route.request().url());
    if (!url.searchParams.has('q')) url.searchParams.set('limit', '1');
    await route.continue({ url: url.href });
  });
  await page.goto(`${site.url}/console/inbox`);
  await expect.poll(() => page.title()).toBe('Inbox · Capstan');
  await page.getByRole('button', { name: /Go to/ }).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /Search pages/ }).fill('the oldest');
  await page.getByRole('option', { name: /The oldest one/ }).waitFor();
  await page.keyboard.press('Enter');
  await expect.poll(() => page.title()).toBe('The oldest one · Capstan');
  expect(faults).toEqual([]);
  await context.close();
});
