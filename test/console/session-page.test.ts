import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Agent } from '../../src/agents/contract/agents.ts';
import type { Session } from '../../src/agents/contract/sessions.ts';
import { openConsole } from './open-console.ts';
import type { ConsoleServer } from './open-console.ts';

let site: ConsoleServer;
let session: Session;

beforeAll(async () => {
  site = await openConsole();
  const agent = await site.call<Agent>('POST', '/v1/agents', {
    name: 'page',
    modelName: 'script/demo',
    systemPrompt: 'Be brief.',
    skills: [],
    tools: [],
  });
  session = await site.call<Session>('POST', '/v1/sessions', { agentId: agent.id, subjectId: 'ada', title: 'A talk' });
});
afterAll(() => site.close());

async function say(text: string): Promise<void> {
  await site.call('POST', `/v1/sessions/${session.id}/events`, {
    events: [{ type: 'user.message', content: [{ type: 'text', text }] }],
  });
  const read = async () => {
    const { status, queuedCount } = await site.call<Session>('GET', `/v1/sessions/${session.id}`);
    return `${status} ${queuedCount}`;
  };
  await expect.poll(read).toBe('idle 0');
}

test('the server finds a text, and a result opens in its place', async () => {
  for (const text of ['The first word is apricot.', 'Another line.']) await say(text);
  const { page, context, faults } = await site.visit();
  await page.goto(`${site.url}/console/sessions/${session.id}`);
  const find = page.getByRole('searchbox', { name: 'Find in this session' });
  await find.fill('apricot');
  await find.press('Enter');
  const matches = page.locator('.match');
  await expect.poll(() => matches.count()).toBe(2);
  await matches.last().click();
  await page.locator('.row-selected .user-message', { hasText: 'apricot' }).waitFor();
  expect(new URL(page.url()).searchParams.get('event')).toMatch(/^evt_/);
  await page.getByRole('combobox', { name: 'Show' }).selectOption('Messages');
  await expect.poll(() => matches.count()).toBe(4);
  await find.fill('nothing has this');
  await find.press('Enter');
  await page.getByText('No event of this session matches.').waitFor();
  await page.getByRole('button', { name: 'Back to the transcript' }).click();
  await page.getByRole('feed').waitFor();
  expect(faults).toEqual([]);
  await context.close();
});

test('files go with a message, and those that cannot be sent are named', async () => {
  const { page, context, faults } = await site.visit();
  await page.goto(`${site.url}/console/sessions/${session.id}`);
  const input = page.locator('input[type="file"]');
  await input.setInputFiles({ name: 'tool.exe', mimeType: 'application/x-msdownload', buffer: Buffer.from('MZ') });
  await page.getByText('tool.exe has a type that cannot be sent.').waitFor();
  await input.setInputFiles({ name: 'notes.md', mimeType: 'text/markdown', buffer: Buffer.from('# Notes') });
  await page.getByRole('textbox', { name: 'Message' }).fill('Read this.');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.locator('.user-message .chip', { hasText: 'notes.md' }).waitFor();
  expect(await page.locator('.composer-files').count()).toBe(0);
  expect(faults).toEqual([]);
  await context.close();
});

test('what a running command prints is shown before it ends', async () => {
  const { id: agentId } = await site.call<Agent>('POST', '/v1/agents', {
    name: 'runner',
    modelName: 'script/demo',
    systemPrompt: 'Be brief.',
    skills: [],
    tools: [{ type: 'agent_toolset', defaultConfig: { permissionPolicy: { type: 'always_allow' } } }],
  });
  const { id } = await site.call<Session>('POST', '/v1/sessions', { agentId, subjectId: 'eve', title: 'A long run' });
  const { page, context, faults } = await site.visit();
  await page.goto(`${site.url}/console/sessions/${id}`);
  await page.getByLabel('Message').fill('run: echo step one; until [ -e go ]; do sleep 0.1; done; echo step two');
  await page.getByLabel('Message').press('Enter');
  await page.locator('.call-running .terminal', { hasText: 'step one' }).waitFor();
  await site.call('POST', `/v1/agents/${agentId}/users/eve/files/mkdir`, { path: 'go' });
  await page.locator('.call-ok').waitFor();
  await page.locator('.call-line').click();
  await page.locator('.call-ok .terminal', { hasText: 'step two' }).waitFor();
  expect(faults).toEqual([]);
  await context.close();
});
