import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allow, customTool, textOf, typesOf } from '../support/chat.ts';
import { callTool, callTools, readChat, say, toolNames } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';
import { ALLOW, of, readAnswer, withDelegation } from '../support/threads.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ maxSteps: 5 });
});
afterAll(() => service.close());

const ASK = { permissionPolicy: { type: 'always_ask' } };
const DENY = { permissionPolicy: { type: 'always_deny' } };
const openChat = async (tools: object[] = withDelegation(), agent: object = {}, session: object = {}) =>
  service.api.openChat(await service.api.createAgent({ tools, ...agent }), session);

it('runs tasks in parallel in the sandbox, shows them in list and stream, and sums their usage', async () => {
  const tasks = [{ goal: 'run: echo one | tee one.txt' }, { goal: 'run: echo two', context: 'nothing else' }];
  const chat = await openChat(withDelegation(), { modelName: 'script/demo' });
  const idle = await chat.run(`call delegate_task ${JSON.stringify({ tasks })}`);
  const events = await chat.list();
  const [delegate] = of(events, 'agent.tool_use');
  const sent = of(events, 'agent.thread_message_sent');
  const received = of(events, 'agent.thread_message_received');
  expect(sent.map(textOf)).toEqual(['run: echo one | tee one.txt', 'run: echo two\n\nContext:\nnothing else']);
  const threads = sent.map(({ payload }) => String(payload['thread_id']));
  expect(new Set(threads).size).toBe(2);
  for (const [index, thread] of threads.entries()) {
    const end = received.find(({ payload }) => payload['thread_id'] === thread);
    expect(end?.payload).toMatchObject({
      agent_name: 'subagent',
      tool_use_id: delegate?.id,
      status: 'completed',
      is_error: false,
      usage: { calls: 2 },
    });
    expect(textOf(end)).toBe(index === 0 ? 'terminal: one' : 'terminal: two');
    const own = events.filter(({ payload }) => payload['thread_id'] === thread);
    expect(typesOf(own)).toEqual([
      'agent.thread_message_sent',
      'agent.tool_use',
      'agent.tool_result',
      'agent.thread_message_received',
    ]);
    expect(own[1]?.payload).toMatchObject({ name: 'terminal', parent_tool_use_id: delegate?.id });
    expect(own[2]?.payload).toMatchObject({ tool_use_id: own[1]?.id, parent_tool_use_id: delegate?.id });
    expect(own.every(({ turnId }) => turnId === delegate?.turnId)).toBe(true);
  }
  expect(received).toHaveLength(2);
  expect(readAnswer(events)).toMatchObject({
    isError: false,
    value: {
      results: [
        { task_index: 0, thread_id: threads[0], status: 'completed', summary: 'terminal: one', api_calls: 2 },
        { task_index: 1, thread_id: threads[1], exit_reason: 'completed', summary: 'terminal: two', api_calls: 2 },
      ],
    },
  });
  const streamed = chat.frames.filter(({ type }) => type.startsWith('agent.thread_message'));
  expect(streamed).toEqual(events.filter(({ type }) => type.startsWith('agent.thread_message')));

  // two model calls of the turn, two of each subagent
  expect(idle.usage?.calls).toBe(6);
  const spent = received.map(({ payload }) => (payload['usage'] as { input: number }).input);
  expect(idle.usage?.input).toBeGreaterThan((spent[0] ?? NaN) + (spent[1] ?? NaN));
  expect((await chat.session()).usage).toMatchObject({ calls: 6, input: idle.usage?.input });
  chat.close();
});

describe('a subagent', () => {
  it('knows its task and nothing of the conversation, and has no tool that is not for it', async () => {
    const chat = await openChat([...withDelegation(), customTool('lookup', 'always_allow')]);
    const task = { goal: 'Count the files.', context: 'They are in src.' };
    service.model.play(say('Noted.'), callTool('delegate_task', task), say('There are 7.'), say('Seven.'));
    await chat.run('My name is CANARY.');
    await chat.run('Delegate.');
    const [, outer, inner, last] = service.model.requests;
    const [system, ...said] = readChat(inner!);
    expect(system).toContain('Be brief.');
    expect(system).toContain('You are a subagent.');
    expect(said).toEqual(['user: Count the files.\n\nContext:\nThey are in src.']);
    expect(JSON.stringify(inner!.body)).not.toContain('CANARY');
    const withheld = ['delegate_task', 'clarify', 'memory', 'lookup'];
    expect(toolNames(outer!)).toEqual(expect.arrayContaining(withheld));
    expect(toolNames(inner!)).toEqual(expect.arrayContaining(['terminal', 'read_file', 'todo']));
    for (const name of [...withheld, 'execute_code']) expect(toolNames(inner!)).not.toContain(name);
    expect(readChat(last!)).toEqual([
      expect.stringContaining('system: '),
      'user: My name is CANARY.',
      'assistant: Noted.',
      'user: Delegate.',
      expect.stringMatching(/^assistant: /),
      expect.stringContaining('There are 7.'),
    ]);
    chat.close();
  });

  it('cannot get at a tool that is withheld by calling it all the same', async () => {
    const chat = await openChat();
    service.model.play(
      callTool('delegate_task', { goal: 'Try.' }),
      callTools([
        ['delegate_task', { goal: 'Deeper.' }],
        ['memory', { action: 'add', target: 'user', content: 'x' }],
        ['clarify', { question: 'Why?' }],
      ]),
      say('No.'),
      say('ok'),
    );
    await chat.run('Go.');
    const events = await chat.list();
    expect(of(events, 'agent.thread_message_sent')).toHaveLength(1);
    const inner = of(events, 'agent.tool_result').filter(({ payload }) => 'thread_id' in payload);
    expect(inner.map(textOf)).toEqual(
      ['delegate_task', 'memory', 'clarify'].map((name) => expect.stringContaining(`no tool named ${name}`)),
    );
    expect(typesOf(events)).not.toContain('agent.clarify_request');
    chat.close();
  });

  it('has the toolsets that it is given, and only such as there are', async () => {
    const chat = await openChat();
    service.model.play(
      callTool('delegate_task', { goal: 'Read.', toolsets: ['file'] }),
      say('Read.'),
      callTool('delegate_task', { tasks: [{ goal: 'Fine.' }, { goal: 'Bad.', toolsets: ['memory'] }] }),
      say('ok'),
    );
    await chat.run('Go.');
    expect(toolNames(service.model.requests[1]!)).toEqual(['read_file', 'write_file', 'patch', 'search_files']);
    const events = await chat.list();
    const results = of(events, 'agent.tool_result');
    expect(textOf(results[1])).toMatch(/toolsets: a subagent can have only these: .*file.*terminal/);
    expect(of(events, 'agent.thread_message_sent')).toHaveLength(1);
    chat.close();
  });

  it('follows the policies: calls that need approval are rejected unless already approved', async () => {
    const tools = withDelegation(ASK, { name: 'file', ...DENY });
    const calls = callTools([
      ['terminal', { command: 'echo ran' }],
      ['write_file', { path: 'a', content: 'x' }],
      ['todo', {}],
    ]);
    const readInner = async (
      chat: Awaited<ReturnType<typeof openChat>>,
      answers = [calls, say('Done.'), say('ok')],
    ) => {
      const before = (await chat.list()).length;
      service.model.play(callTool('delegate_task', { goal: 'Try.' }), ...answers);
      expect((await chat.run('Go.')).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
      const inner = (await chat.list()).slice(before).filter(({ payload }) => 'parent_tool_use_id' in payload);
      const uses = of(inner, 'agent.tool_use').map(({ payload }) => payload['evaluated_permission']);
      return { uses, texts: of(inner, 'agent.tool_result').map(textOf) };
    };
    const chat = await openChat(tools);
    const refused = await readInner(chat);
    expect(new Set(refused.uses)).toEqual(new Set(['allow', 'ask', 'deny']));
    expect(refused.texts.join()).toContain('needs an approval');
    expect(refused.texts.join()).toContain('not permitted');
    expect(refused.texts.join()).not.toContain('ran');
    expect(await chat.session()).toMatchObject({ status: 'idle', pendingActions: [] });

    service.model.play(callTool('terminal', { command: 'true' }), say('ok'));
    await chat.prompt('Now yourself.');
    await chat.send(allow((await chat.next('agent.approval_request')).id, 'session'));
    await chat.next((frame) => textOf(frame) === 'ok' && frame.payload['delta'] === false);
    await chat.next('session.status_idle');
    expect((await readInner(chat)).texts.join()).toContain('"output":"ran');
    chat.close();

    const bold = await openChat(tools, {}, { yoloMode: true });
    const texts = (await readInner(bold)).texts.join();
    expect(texts).toContain('"output":"ran');
    expect(texts).toContain('not permitted');
    bold.close();
  });

  it('that fails harms its own task only', async () => {
    const chat = await openChat(withDelegation(), { modelName: 'script/demo' });
    const tasks = [{ goal: 'fail: out of order' }, { goal: 'Hello.' }];
    await chat.run(`call delegate_task ${JSON.stringify({ tasks })}`);
    const events = await chat.list();
    const [failed, fine] = readAnswer(events).value.results;
    expect(readAnswer(events).isError).toBe(false);
    expect(failed).toMatchObject({ status: 'failed', exit_reason: 'error', summary: 'out of order' });
    expect(fine).toMatchObject({ status: 'completed', summary: 'You said: Hello.' });
    const received = of(events, 'agent.thread_message_received').map(({ payload }) => payload);
    expect(received.find((payload) => payload['thread_id'] === failed?.['thread_id'])).toMatchObject({
      status: 'failed',
      is_error: true,
    });
    chat.close();
  });

  it('stops at its limit of model calls', async () => {
    const chat = await openChat();
    const again = callTool('todo', {}, 'Still at it.');
    service.model.play(callTool('delegate_task', { goal: 'Go on.' }), again, again, again, again, again, say('ok'));
    const idle = await chat.run('Go.');
    const { isError, value } = readAnswer(await chat.list());
    expect(isError).toBe(true);
    expect(value.results).toMatchObject([{ status: 'failed', exit_reason: 'max_iterations', api_calls: 5 }]);
    expect(value.results[0]?.['summary']).toContain('Still at it.');
    expect(idle.payload).toMatchObject({ stop_reason: { type: 'end_turn' }, usage: { calls: 7 } });
    chat.close();
  });
});

it('exists only if enabled by name', async () => {
  const chat = await openChat([{ type: 'agent_toolset', defaultConfig: ALLOW }]);
  service.model.play(callTool('delegate_task', { goal: 'Try.' }), say('ok'));
  await chat.run('Go.');
  expect(toolNames(service.model.requests[0]!)).not.toContain('delegate_task');
  const events = await chat.list();
  expect(textOf(of(events, 'agent.tool_result')[0])).toContain('not permitted');
  expect(typesOf(events)).not.toContain('agent.thread_message_sent');
  chat.close();
});
