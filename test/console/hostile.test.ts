import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Agent } from '../../src/agents/contract/agents.ts';
import type { Session } from '../../src/agents/contract/sessions.ts';
import { openConsole } from './open-console.ts';
import type { ConsoleServer } from './open-console.ts';

const HOST = 'attacker.example';
const RUN = 'globalThis.attacked=1';

/** What has run scripts or fetched addresses in pages that show messages. */
const MARKUP = [
  `<script>${RUN}</script>`,
  `<img src=x onerror="${RUN}">`,
  `<img src="https://${HOST}/pixel.png">`,
  `<svg onload="${RUN}"><use href="https://${HOST}/a.svg#x"/></svg>`,
  `<iframe srcdoc="<script>parent.attacked=1</script>"></iframe>`,
  `<iframe src="https://${HOST}/"></iframe>`,
  `<link rel=stylesheet href="https://${HOST}/a.css">`,
  `<style>@import url(https://${HOST}/b.css); * { display: none }</style>`,
  `<meta http-equiv=refresh content="0;url=https://${HOST}/">`,
  `<base href="https://${HOST}/">`,
  `<form action="https://${HOST}/"><button autofocus onfocus="${RUN}">x</button></form>`,
  `<details open ontoggle="${RUN}">x</details>`,
  `<video src="https://${HOST}/a.mp4" autoplay onerror="${RUN}"></video>`,
  `<object data="https://${HOST}/a.swf"></object>`,
  `<math><mtext></mtext><mglyph><style></math><img src onerror=${RUN}>`,
  `<template shadowrootmode=open><script>${RUN}</script></template>`,
];
const MARKDOWN = [
  `[x](javascript:${RUN})`,
  `[x](JaVaScRiPt:${RUN})`,
  `[x](data:text/html,<script>${RUN}</script>)`,
  `![x](https://${HOST}/pixel.png)`,
  `![x](javascript:${RUN})`,
  `[![x](https://${HOST}/a.png)](javascript:${RUN})`,
  `<javascript:${RUN}>`,
  `[x]: javascript:${RUN}\n\n[x]`,
  `\`\`\`html"onmouseover="${RUN}\n<script>${RUN}</script>\n\`\`\``,
  `| a | b |\n|---|---|\n| <script>${RUN}</script> | ![x](https://${HOST}/c.png) |`,
  `- [ ] <img src=x onerror=${RUN}>`,
  `# <script>${RUN}</script>`,
];
/** What has kept pages busy. */
const HEAVY = [
  '['.repeat(5000),
  '> '.repeat(2000) + 'deep',
  '*'.repeat(5000) + 'a' + '*'.repeat(5000),
  `${'['.repeat(500)}x${'](y)'.repeat(500)}`,
  '| '.repeat(3000),
  `${'- '.repeat(500)}x`,
  'a'.repeat(15_000),
  '<'.repeat(5000),
  '`'.repeat(4999),
  '_a'.repeat(5000),
];
const CONTROL = [
  '\u202Egnp.exe',
  '\u200B\u200C\u200D',
  '\u001B]8;;https://attacker.example\u0007x\u001B]8;;\u0007',
  '\u001B[2J\u001B[1;1H',
  '\uFEFF\u2066x\u2069',
];
const PAYLOADS = [...MARKUP, ...MARKDOWN, ...HEAVY, ...CONTROL];
/** No answer to a click within so long is a page that hangs. */
const HANG_MS = 30_000;

let site: ConsoleServer;
const sessions: string[] = [];

/** Payloads as the title, the subject, the prompt, the reply, thoughts, a command, its output, a file, and a question. */
async function attack(agent: Agent, payload: string, index: number): Promise<void> {
  const line = payload.replaceAll('\n', ' ').slice(0, 3000);
  const text = [`think: ${line}`, `run: printf '%s' '${line.replaceAll("'", '"')}'`, `write a.txt: ${line}`].join('\n');
  const session = await site.call<Session>('POST', '/v1/sessions', {
    agentId: agent.id,
    subjectId: `subject-${index}`,
    title: line.slice(0, 400),
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
    name: MARKUP[1]?.slice(0, 60),
    modelName: 'script/demo',
    systemPrompt: MARKUP.join('\n'),
    skills: [],
    tools: [{ type: 'agent_toolset', defaultConfig: { permissionPolicy: { type: 'always_allow' } } }],
  });
  // Several payloads a session: each is in every field once.
  const groups = Array.from({ length: 8 }, (_, group) => PAYLOADS.filter((_payload, index) => index % 8 === group));
  await Promise.all(groups.map((group, index) => attack(agent, group.join('\n\n').slice(0, 19_000), index)));
  const { page, context, faults } = await site.visit();
  page.setDefaultTimeout(HANG_MS);
  const check = async () => expect(await page.evaluate<unknown>('globalThis.attacked')).toBeUndefined();
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
