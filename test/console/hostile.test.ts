import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Agent } from '../../src/agents/contract/agents.ts';
import type { Session } from '../../src/agents/contract/sessions.ts';
import { openConsole } from './open-console.ts';
import type { ConsoleServer } from './open-console.ts';
import { PAYLOADS, groupPayloads } from './payloads.ts';

/** Characters of the payloads of one session; a prompt holds 20,000. */
const GROUP = 6000;
/** Part of these characters in each field. */
const LINE = 6000;
/** Maximum elements of a page, whatever the session contains: only visible rows are rendered, and each is bounded. */
const MAX_ELEMENTS = 40_000;
/** A page that does not react to a click within this time hangs. */
const HANG_MS = 30_000;

let site: ConsoleServer;
const sessions: string[] = [];

/** Payloads as title, subject, prompt, reply, thoughts, command, output, file and question. */
async function attack(agent: Agent, payload: string, index: number): Promise<void> {
  const line = payload.replaceAll('\n', ' ').slice(0, LINE).toWellFormed();
  const text = [`think: ${line}`, `run: printf '%s' '${line.replaceAll("'", '"')}'`, `write a.txt: ${line}`].join('\n');
  const session = await site.call<Session>('POST', '/v1/sessions', {
    agentId: agent.id,
    subjectId: `subject-${index}`,
    title: line.slice(0, 400).toWellFormed(),
    yoloMode: true,
    metadata: { note: line },
  });
  sessions.push(session.id);
  for (const prompt of [payload, text, `ask: ${line}`]) {
    await site.call('POST', `/v1/sessions/${session.id}/events`, {
      events: [{ type: 'user.message', content: [{ type: 'text', text: prompt }] }],
    });
    const wanted = prompt.startsWith('ask:') ? 'waiting_on_human' : 'idle';
    await expect.poll(async () => (await site.call<Session>('GET', `/v1/sessions/${session.id}`)).status).toBe(wanted);
  }
}

beforeAll(async () => {
  site = await openConsole();
});
afterAll(() => site.close());

test('hostile transcripts run nothing, fetch nothing and do not hang the page', async () => {
  const agent = await site.call<Agent>('POST', '/v1/agents', {
    name: PAYLOADS[1]?.slice(0, 60),
    modelName: 'script/demo',
    systemPrompt: PAYLOADS.slice(0, 100).join('\n'),
    skills: [],
    tools: [{ type: 'agent_toolset', defaultConfig: { permissionPolicy: { type: 'always_allow' } } }],
  });
  expect(PAYLOADS.length).toBeGreaterThanOrEqual(200);
  await Promise.all(groupPayloads(GROUP).map((group, index) => attack(agent, group, index)));
  const { page, context, faults } = await site.visit();
  page.setDefaultTimeout(HANG_MS);
  const check = async () => {
    expect(await page.evaluate<unknown>('globalThis.attacked')).toBeUndefined();
    expect(await page.evaluate<number>('document.querySelectorAll("*").length')).toBeLessThan(MAX_ELEMENTS);
  };
  for (const id of sessions) {
    await page.goto(`${site.url}/console/sessions/${id}`);
    await page.locator('.event').first().waitFor();
    await page.getByRole('feed').press('Home');
    for (const line of await page.locator('.call-line, .thinking-line').all())
      await line.click().catch(() => undefined);
    await check();
    await page.getByRole('link', { name: 'Raw' }).click();
    await page.locator('.raw-line').first().click();
    await check();
  }
  await page.goto(`${site.url}/console/inbox`);
  for (const row of await page.locator('.ask-row').all()) await row.click();
  await page.locator('.ask').waitFor();
  await page.goto(`${site.url}/console/agents`);
  await page.locator('table.list a').first().click();
  await page.getByLabel('System prompt').waitFor();
  await check();
  expect(new URL(page.url()).origin).toBe(new URL(site.url).origin);
  expect(faults).toEqual([]);
  await context.close();
});
