import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowAll } from '../support/chat.ts';
import { startTestMcp } from '../support/mcp/server.ts';
import { callTool, readChat, say, toolNames } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  const sandboxFacts = { platform: 'Linux (x86_64)', network: 'none', programs: ['python3', 'git'] } as const;
  service = await startService({ sandboxFacts });
});
afterAll(() => service.close());

const systemOf = (number: number) => readChat(service.model.requests[number]!)[0] ?? '';

it('the prompt names the day and the sandbox, in a stable prefix', async () => {
  const chat = await service.api.openChat(await service.api.createAgent({ tools: allowAll }));
  service.model.play(say('one'), say('two'));
  await chat.run('Go.');
  await chat.run('Go on.');
  expect(systemOf(0)).toMatch(/Today is [A-Z][a-z]+day, \d{1,2} [A-Z][a-z]+ \d{4}\. Days and times are in UTC/);
  expect(systemOf(0)).toContain('Linux (x86_64)');
  expect(systemOf(0)).toContain('no network access');
  expect(systemOf(0)).toContain('Installed programs: python3, git.');
  expect(systemOf(1)).toBe(systemOf(0));
  const [first, second] = service.model.requests.map(({ body }) => JSON.stringify(body['tools']));
  expect(second).toBe(first);
  chat.close();
});

it('a search without a backend is not offered, and a name that no tool has is answered with those next to it', async () => {
  const chat = await service.api.openChat(await service.api.createAgent({ tools: allowAll }));
  service.model.play(callTool('functions.Terminal', { command: 'ls' }), callTool('banana', {}), say('done'));
  await chat.run('Go.');
  expect(toolNames(service.model.requests[0]!)).not.toContain('web_search');
  expect(toolNames(service.model.requests[0]!)).toContain('clarify');
  const [, second, third] = service.model.requests.map((request) => readChat(request).at(-1));
  expect(second).toMatch(/no tool named functions\.Terminal\. Did you mean terminal\?/);
  expect(third).toContain('Use only the tools you were given');
  chat.close();
});

it('the prompt of an automation run says that nobody is present, and the run cannot ask', async () => {
  const agent = await service.api.createAgent({ tools: allowAll });
  const path = `/v1/agents/${agent.id}/users/anna/automations`;
  const body = { name: 'Digest', prompt: 'Summarise today.', schedule: '0 9 * * 1' };
  const made = await service.api.call<{ id: string }>('POST', path, body);
  service.model.play(callTool('clarify', { question: 'Which?' }), say('Done.'));
  const run = await service.api.call<{ sessionId: string }>('POST', `${path}/${made.body.id}/trigger`);
  const chat = await service.api.joinChat(agent, run.body.sessionId, '?after=0');
  const idle = await chat.next('session.status_idle');
  expect(idle.payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  expect(systemOf(0)).toMatch(/a run of the automation "Digest", started at \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
  expect(systemOf(0)).toContain('Its schedule: At 09:00');
  expect(systemOf(0)).toContain('Nobody is present');
  expect(toolNames(service.model.requests[0]!)).not.toContain('clarify');
  expect(readChat(service.model.requests[1]!).at(-1)).toContain('no tool named clarify');
  chat.close();
});

it('the instructions of an MCP server are in the prompt', async () => {
  const server = await startTestMcp();
  const agent = await service.api.createAgent({
    mcpServers: [{ type: 'url', name: 'files', url: server.url }],
    tools: [{ type: 'mcp_toolset', mcpServerName: 'files' }],
  });
  const chat = await service.api.openChat(agent);
  service.model.play(say('one'));
  await chat.run('Go.');
  expect(systemOf(0)).toContain('## files\nCall echo before wipe.');
  chat.close();
  server.close();
});
