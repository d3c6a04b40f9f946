import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowAll, interrupt, textOf } from '../support/chat.ts';
import { callTool, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

it('streams show the output of a running command; the log has only the result', async () => {
  const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';
  service.model.play(callTool('terminal', { command: `echo first ${secret}; sleep 300` }), say('done'));
  const chat = await service.api.openChat(await service.api.createAgent({ tools: allowAll }));
  await chat.prompt('Go.');
  const use = await chat.next('agent.tool_use');
  const output = await chat.next('agent.tool_output');
  expect(textOf(output)).toBe('first ghp_…[redacted]\n');
  expect(output.payload['tool_use_id']).toBe(use.payload['id']);
  await chat.send(interrupt());
  await chat.next('session.status_idle');
  const events = await chat.list();
  expect(events.filter(({ type }) => type === 'agent.tool_output')).toEqual([]);
  expect(events.some(({ type }) => type === 'agent.tool_result')).toBe(true);
  chat.close();
});
