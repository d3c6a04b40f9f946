import { globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Agent } from '../../src/agents/contract/agents.ts';
import type { EventEnvelope } from '../../src/agents/contract/events.ts';
import type { Session } from '../../src/agents/contract/sessions.ts';
import { findChromium } from '../../src/login/browser/chromium.ts';
import { startServer } from '../cli/server.ts';
import type { CliServer } from '../cli/server.ts';
import { makeScratch } from '../support/scratch.ts';
import { openProxy } from './proxy.ts';
import type { Proxy } from './proxy.ts';

const folder = makeScratch('console-outages');
let proxy: Proxy;
let server: CliServer;
let browser: Browser;
let key: string;

/** The server with its data, at the same public address each time. */
async function start(): Promise<void> {
  server = await startServer({ CAPSTAN_DATA_DIR: join(folder, 'data'), CAPSTAN_PUBLIC_URL: proxy.url });
  proxy.setTarget(server.url);
}

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${proxy.url}${path}`, {
    method,
    headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

async function openSession(title: string): Promise<Session> {
  const agent = await call<Agent>('POST', '/v1/agents', {
    name: title,
    modelName: 'script/demo',
    systemPrompt: 'Be brief.',
    skills: [],
    tools: [{ type: 'agent_toolset', defaultConfig: { permissionPolicy: { type: 'always_allow' } } }],
  });
  return call<Session>('POST', '/v1/sessions', { agentId: agent.id, subjectId: 'ada', title });
}

async function visit(path: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 2400 } });
  context.setDefaultTimeout(120_000);
  const headers = { 'x-capstan-console': '1', 'sec-fetch-site': 'same-origin' };
  const answer = await context.request.post(`${proxy.url}/v1/sign-ins`, { data: { key }, headers });
  if (!answer.ok()) throw new Error(`sign-in: ${answer.status()}`);
  const page = await context.newPage();
  await page.goto(`${proxy.url}/console/${path}`);
  await page.evaluate('window.loadedOnce = true');
  return page;
}

/** Whether a file of this name is anywhere in the server's data: a command wrote it. */
function hasFile(name: string): boolean {
  return globSync(`data/**/${name}`, { cwd: folder }).length > 0;
}

/** Every row that the transcript has, by sequence, and how many of each kind it shows. */
async function readRows(page: Page): Promise<{ sequences: number[]; calls: number; prompts: number }> {
  return await page.evaluate(`({
    sequences: [...document.querySelectorAll('.row-virtual')].map((row) => Number(row.getAttribute('aria-posinset'))),
    calls: document.querySelectorAll('.call').length,
    prompts: document.querySelectorAll('.user-message').length,
  })`);
}

beforeAll(async () => {
  proxy = await openProxy('/a/b');
  await start();
  key = readFileSync(join(folder, 'data/api-key'), 'utf8').trim();
  const executablePath = findChromium(undefined, process.env['PATH'] ?? '') ?? 'chromium';
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
});
afterEach(() => proxy.restore());
afterAll(async () => {
  await browser.close();
  await server.close();
  await proxy.close();
  rmSync(folder, { recursive: true, force: true });
});

test('a server killed three times in a turn costs no event, no draft, no sign-in and no reload', async () => {
  const session = await openSession('Crashes');
  const page = await visit(`sessions/${session.id}`);
  const message = page.getByLabel('Message');
  const command = (name: string) => `run: touch ${name}.started; until [ -e ${name} ]; do sleep 0.1; done`;
  await message.fill(['one', 'two', 'three'].map(command).join('\n'));
  await message.press('Enter');
  await expect.poll(() => message.inputValue()).toBe('');
  await message.fill('Not sent yet');
  for (const name of ['one', 'two', 'three']) {
    await page.locator('.call-running', { hasText: `-e ${name}` }).waitFor();
    // A call that no sandbox has received runs again on the next server; one that has begun is lost with its server.
    await expect.poll(() => hasFile(`${name}.started`), { timeout: 120_000 }).toBe(true);
    await server.kill();
    await start();
  }
  await expect.poll(async () => (await call<Session>('GET', `/v1/sessions/${session.id}`)).status).toBe('idle');
  const { data } = await call<{ data: EventEnvelope[] }>('GET', `/v1/sessions/${session.id}/events?limit=100`);
  const count = (type: string) => data.filter((event) => event.type === type).length;
  const expected = {
    sequences: data.map(({ sequence }) => sequence),
    calls: count('agent.tool_use'),
    prompts: count('user.message'),
  };
  await expect.poll(() => readRows(page)).toEqual(expected);
  expect(await page.locator('.row-placeholder').count()).toBe(0);
  expect(await message.inputValue()).toBe('Not sent yet');
  expect(await page.evaluate('window.loadedOnce')).toBe(true);
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.context().close();
});

test('a cut network is survived below a path, and what was missed is shown', async () => {
  const session = await openSession('Cut');
  const page = await visit(`sessions/${session.id}`);
  await page.getByLabel('Message').fill('Before the cut');
  await page.getByLabel('Message').press('Enter');
  await page.getByText('You said: Before the cut').waitFor();
  proxy.cut();
  await page.locator('.connection').waitFor();
  const answer = await fetch(`${server.url}/v1/sessions/${session.id}/events`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ events: [{ type: 'user.message', content: [{ type: 'text', text: 'Behind its back' }] }] }),
  });
  expect(answer.ok).toBe(true);
  proxy.restore();
  await page.getByText('You said: Behind its back').waitFor();
  await page.locator('.connection').waitFor({ state: 'detached' });
  expect(await page.locator('.user-message').count()).toBe(2);
  expect(page.url().startsWith(`${proxy.url}/console/`)).toBe(true);
  expect(await page.evaluate('window.loadedOnce')).toBe(true);
  await page.context().close();
});

test('a sign-in that has ended is renewed over the page, which keeps its address and its draft', async () => {
  const session = await openSession('Expiry');
  const page = await visit(`sessions/${session.id}?view=transcript`);
  await page.getByLabel('Message').fill('Still here');
  const address = page.url();
  const headers = { 'x-capstan-console': '1', 'sec-fetch-site': 'same-origin' };
  expect((await page.context().request.delete(`${proxy.url}/v1/sign-ins/current`, { headers })).ok()).toBe(true);
  // The stream may have noticed it first, so that the dialog covers the button.
  await page.getByRole('button', { name: 'Send' }).dispatchEvent('click');
  const dialog = page.getByRole('dialog', { name: 'Sign in to Capstan' });
  await dialog.getByLabel('API key').fill(key);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(page.url()).toBe(address);
  expect(await page.getByLabel('Message').inputValue()).toBe('Still here');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('You said: Still here').waitFor();
  expect(await page.evaluate('window.loadedOnce')).toBe(true);
  await page.context().close();
});

test('ten tabs of one browser load, and each follows its session', async () => {
  const sessions = await Promise.all(Array.from({ length: 10 }, (_, index) => openSession(`Tab ${index}`)));
  const first = await visit(`sessions/${sessions[0]?.id}`);
  const pages = [first];
  for (const { id } of sessions.slice(1)) {
    const page = await first.context().newPage();
    await page.goto(`${proxy.url}/console/sessions/${id}`);
    pages.push(page);
  }
  for (const [index, page] of pages.entries()) {
    await page.getByLabel('Message').fill(`Hello from ${index}`);
    await page.getByLabel('Message').press('Enter');
  }
  for (const [index, page] of pages.entries()) await page.getByText(`You said: Hello from ${index}`).waitFor();
  expect(await Promise.all(pages.map((page) => page.locator('.user-message').count()))).toEqual(pages.map(() => 1));
  await first.context().close();
});
