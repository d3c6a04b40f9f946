import { afterAll, beforeAll, expect, it } from 'vitest';
import { interrupt, textOf, typesOf } from '../support/chat.ts';
import type { RecordedRequest } from '../support/model-server/server.ts';
import { buildGateTools } from '../support/gate-tools.ts';
import { isRunning } from '../support/running.ts';
import { callTool, readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { of, readAnswer, withDelegation } from '../support/threads.ts';

const gates = buildGateTools();
let service: Service;
beforeAll(async () => {
  service = await startService({ tools: gates.tools, maxSteps: 5 });
});
afterAll(() => service.close());

const openChat = async (tools: object[] = withDelegation(), agent: object = {}, session: object = {}) =>
  service.api.openChat(await service.api.createAgent({ tools, ...agent }), session);

it('runs three at once and lets the others wait', async () => {
  const chat = await openChat(withDelegation(), { modelName: 'script/demo' });
  const keys = ['d1', 'd2', 'd3', 'd4', 'd5'];
  const tasks = keys.map((key) => ({ goal: `call hold {"key":"${key}"}` }));
  await chat.prompt(`call delegate_task ${JSON.stringify({ tasks })}`);
  await Promise.all(['d1', 'd2', 'd3'].map((key) => gates.held(key)));
  expect(of(await chat.list(), 'agent.thread_message_sent')).toHaveLength(3);
  gates.open('d2');
  await gates.held('d4');
  expect(of(await chat.list(), 'agent.thread_message_sent')).toHaveLength(4);
  for (const key of keys) gates.open(key);
  await chat.next('session.status_idle');
  const { results } = readAnswer(await chat.list()).value;
  expect(results.map(({ summary }) => summary)).toEqual(keys.map((key) => `hold: hold ${key}`));
  chat.close();
});

it('lets none of them move another, or the session, to another directory', async () => {
  const chat = await openChat();
  const goes = async (request: RecordedRequest) => {
    const told = readChat(request);
    const name = /^user: (\w+)$/.exec(told[1] ?? '')?.[1] ?? '';
    if (told.length > 3) return told.length > 5 ? say(told.at(-1) ?? '') : callTool('terminal', { command: 'pwd' });
    return callTool('terminal', { command: `mkdir -p ${name} && cd ${name}` });
  };
  const tasks = [{ goal: 'left' }, { goal: 'right' }];
  const answers = Array.from({ length: 6 }, () => goes);
  service.model.play(callTool('delegate_task', { tasks }), ...answers, callTool('terminal', { command: 'pwd' }));
  await chat.run('Go.');
  const events = await chat.list();
  const summaries = readAnswer(events).value.results.map(({ summary }) => String(summary));
  expect(summaries[0]).toContain('output:\n/workspace/left');
  expect(summaries[1]).toContain('output:\n/workspace/right');
  expect(textOf(of(events, 'agent.tool_result').at(-1))).toContain('"output":"/workspace\\n"');
  chat.close();
});

it('is stopped by an interrupt, subagents and their commands too', async () => {
  const chat = await openChat(withDelegation(), { modelName: 'script/demo' });
  const tasks = [{ goal: 'run: sleep 98765.6' }, { goal: 'call hold {"key":"stopped"}' }];
  await chat.prompt(`call delegate_task ${JSON.stringify({ tasks })}`);
  await gates.held('stopped');
  await expect.poll(() => isRunning('sleep 98765.6')).toBe(true);
  await chat.send(interrupt());
  const idle = await chat.next('session.status_idle');
  expect(idle.payload).toMatchObject({ stop_reason: { type: 'end_turn' }, interrupted: true });
  const events = await chat.list();
  const received = of(events, 'agent.thread_message_received');
  expect(received.map(({ payload }) => [payload['status'], payload['is_error']])).toEqual([
    ['interrupted', true],
    ['interrupted', true],
  ]);
  expect(received.every(({ payload }) => (payload['usage'] as { calls: number }).calls === 1)).toBe(true);
  expect(idle.usage?.calls).toBe(3);
  const uses = of(events, 'agent.tool_use').map(({ id }) => id);
  const results = of(events, 'agent.tool_result').map(({ payload }) => payload['tool_use_id']);
  expect(results).toHaveLength(uses.length);
  expect(new Set(results)).toEqual(new Set(uses));
  expect(typesOf(events).slice(-2)).toEqual(['agent.tool_result', 'session.status_idle']);
  await expect.poll(() => isRunning('sleep 98765.6')).toBe(false);
  chat.close();
});
