import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowAll, customTool, textOf, typesOf } from '../support/chat.ts';
import { callTool, callTools, readChat, say, toolNames } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const toolset = (...configs: object[]) => ({
  type: 'agent_toolset',
  defaultConfig: { enabled: true, permissionPolicy: { type: 'always_ask' } },
  configs,
});

it('denied and disabled tools never run, not even in yolo mode', async () => {
  const tools = [
    toolset({ name: 'terminal', permissionPolicy: { type: 'always_deny' } }, { name: 'file', enabled: false }),
    { ...customTool('lookup', 'always_allow'), enabled: false },
    customTool('forbidden', 'always_deny'),
  ];
  const agent = await service.api.createAgent({ tools });
  const chat = await service.api.openChat(agent, { yoloMode: true });
  service.model.play(
    callTools([
      ['terminal', { command: 'true' }],
      ['write_file', { path: 'a', content: 'x' }],
      ['lookup', {}],
      ['forbidden', {}],
    ]),
    say('I see.'),
  );
  expect((await chat.run('Go.')).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  const events = await chat.list();
  const uses = events.filter((event) => event.type === 'agent.tool_use');
  expect(uses.map(({ payload }) => [payload['name'], payload['toolset'], payload['evaluated_permission']])).toEqual([
    ['terminal', 'terminal', 'deny'],
    ['write_file', 'file', 'deny'],
    ['lookup', null, 'deny'],
    ['forbidden', null, 'deny'],
  ]);
  const results = events.filter((event) => event.type === 'agent.tool_result');
  expect(results.map(({ payload }) => payload['is_error'])).toEqual([true, true, true, true]);
  expect(typesOf(events)).not.toContain('agent.approval_request');
  expect(typesOf(events)).not.toContain('agent.custom_tool_use');
  chat.close();
});

it('a disabled tool is invisible to the model, a denied one is not', async () => {
  const tools = [
    toolset({ name: 'terminal', permissionPolicy: { type: 'always_deny' } }, { name: 'file', enabled: false }),
    { ...customTool('hidden', 'always_allow'), enabled: false },
    customTool('shown', 'always_ask'),
  ];
  const chat = await service.api.openChat(await service.api.createAgent({ tools }));
  service.model.play(say('ok'));
  await chat.run('Go.');
  const names = toolNames(service.model.requests[0]!);
  expect(names).toContain('terminal');
  expect(names).toContain('shown');
  expect(names).not.toContain('write_file');
  expect(names).not.toContain('hidden');
  chat.close();
});

it('without an agent_toolset there are no built-in tools', async () => {
  const chat = await service.api.openChat(
    await service.api.createAgent({ tools: [customTool('lookup', 'always_allow')] }),
  );
  service.model.play(callTool('terminal', { command: 'true' }), say('ok'));
  await chat.run('Go.');
  expect(toolNames(service.model.requests[0]!)).toEqual(['lookup']);
  expect(readChat(service.model.requests[1]!).at(-1)).toContain('not permitted');
  chat.close();
});

it('the tools of a role take the place of the top-level ones', async () => {
  const agent = await service.api.createAgent({
    tools: [customTool('lookup', 'always_allow')],
    roles: [{ name: 'operator', tools: allowAll }],
  });
  const chat = await service.api.openChat(agent, { role: 'operator' });
  service.model.play(callTool('terminal', { command: 'echo hello' }), say('ok'));
  expect((await chat.run('Go.')).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  expect(toolNames(service.model.requests[0]!)).not.toContain('lookup');
  const result = (await chat.list()).find((event) => event.type === 'agent.tool_result');
  expect(textOf(result)).toContain('hello');
  chat.close();
});

it('clarify and todo do not pause for a permission, but hold to a denial', async () => {
  service.model.play(callTool('todo', { todos: [{ id: '1', content: 'x', status: 'pending' }] }), say('ok'));
  const chat = await service.api.openChat();
  expect((await chat.run('Go.')).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  const tools = [
    toolset({ name: 'todo', permissionPolicy: { type: 'always_deny' } }, { name: 'clarify', enabled: false }),
  ];
  const denied = await service.api.openChat(await service.api.createAgent({ tools }));
  service.model.play(
    callTools([
      ['todo', {}],
      ['clarify', { question: 'Why?' }],
    ]),
    say('ok'),
  );
  expect((await denied.run('Go.')).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  const uses = (await denied.list()).filter((event) => event.type === 'agent.tool_use');
  expect(uses.map(({ payload }) => payload['evaluated_permission'])).toEqual(['deny', 'deny']);
  chat.close();
  denied.close();
});

it('a malformed call returns an error to the model, and the turn continues', async () => {
  const chat = await service.api.openChat(await service.api.createAgent({ tools: allowAll }));
  service.model.play(
    callTools([
      ['no_such_tool', { a: 1 }],
      ['write_file', '{"path": '],
      ['write_file', { content: 'no path' }],
    ]),
    say('sorry'),
  );
  expect((await chat.run('Go.')).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  const events = await chat.list();
  const results = events.filter((event) => event.type === 'agent.tool_result');
  expect(results.map(textOf)).toEqual([
    expect.stringContaining('There is no tool named no_such_tool'),
    expect.stringContaining('not valid JSON'),
    expect.stringContaining('path: is required'),
  ]);
  expect(results.every(({ payload }) => payload['is_error'] === true)).toBe(true);
  expect(readChat(service.model.requests[1]!).filter((line) => line.startsWith('tool:'))).toHaveLength(3);
  chat.close();
});
