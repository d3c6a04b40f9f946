import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Agent } from '../../src/agents/contract/agents.ts';
import { readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const publish = async (agent: Agent, systemPrompt: string) =>
  (await service.api.call<Agent>('PATCH', `/v1/agents/${agent.id}`, { systemPrompt })).body;
const promote = (agent: Agent, version: number) =>
  service.api.call('PUT', `/v1/agents/${agent.id}/production`, { version });

/** The system prompt that a session's model receives. */
async function readSystem(agent: Agent, fields: object): Promise<string> {
  service.model.play(say('ok'));
  const chat = await service.api.openChat(agent, fields);
  await chat.run('Go.');
  chat.close();
  return readChat(service.model.requests[0]!)[0] ?? '';
}

it('a session keeps the version that it was made with, whatever is published and promoted later', async () => {
  const agent = await service.api.createAgent({ systemPrompt: 'Prompt zero.' });
  const chat = await service.api.openChat(agent);
  service.model.play(say('1'), say('2'));
  await chat.run('one');
  await publish(agent, 'Prompt one.');
  await promote(agent, 1);
  await chat.run('two');
  expect(service.model.requests.map((request) => readChat(request)[0])).toEqual([
    expect.stringContaining('Prompt zero.'),
    expect.stringContaining('Prompt zero.'),
  ]);
  expect((await chat.session()).agentVersion).toBe(0);
  expect(await readSystem(agent, {})).toContain('Prompt one.');
  chat.close();
});

it('preview and tag sessions run their own versions', async () => {
  const agent = await service.api.createAgent({ systemPrompt: 'Prompt zero.' });
  await publish(agent, 'Prompt one.');
  await publish(agent, 'Prompt two.');
  await service.api.call('PUT', `/v1/agents/${agent.id}/tags/trial`, { version: 1 });
  expect(await readSystem(agent, {})).toContain('Prompt zero.');
  expect(await readSystem(agent, { tag: 'trial' })).toContain('Prompt one.');
  expect(await readSystem(agent, { preview: true })).toContain('Prompt two.');
});
