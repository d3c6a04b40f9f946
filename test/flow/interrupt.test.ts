import { afterAll, beforeAll, expect, it } from 'vitest';
import { allow, allowAll, customTool, interrupt, steer, textOf, toolResult, typesOf } from '../support/chat.ts';
import { buildGateTools } from '../support/gate-tools.ts';
import { encodeStream } from '../support/model-server/encode.ts';
import { completeReply } from '../support/model-server/pieces.ts';
import { isRunning } from '../support/running.ts';
import { callTool, callTools, readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

const gates = buildGateTools();
let service: Service;
beforeAll(async () => {
  service = await startService({ tools: gates.tools });
});
afterAll(() => service.close());

const openChat = async (tools: object[] = allowAll) => service.api.openChat(await service.api.createAgent({ tools }));

/** Starts a reply that never ends. */
function endless(text: string) {
  const events = encodeStream('chat-completions', completeReply({ content: [{ type: 'text', text }] }), 10);
  return { events: events.slice(0, -4), hang: 'after-body' as const };
}

it('interrupts a streaming reply, keeps its text, and gives the model the reason later', async () => {
  service.model.play(endless('I will tell you a long story about it.'), say('Sorry.'));
  const chat = await openChat();
  await chat.prompt('Go.');
  const delta = await chat.next('agent.message');
  const sent = await chat.send(interrupt('Too long.'));
  expect(sent).toMatchObject({ status: 200, body: { data: [{ status: 'received', turnId: delta.turnId }] } });
  const idle = await chat.next('session.status_idle');
  expect(idle.payload).toMatchObject({ stop_reason: { type: 'end_turn' }, interrupted: true });
  expect(idle.payload['usage']).toEqual(idle.usage);
  await service.model.requests[0]?.abandoned;

  const events = await chat.list();
  const kept = events.find((event) => event.type === 'agent.message');
  expect(kept).toMatchObject({ id: delta.id, payload: { delta: false } });
  expect(textOf(kept)).toContain(textOf(delta));
  expect('I will tell you a long story about it.').toContain(textOf(kept));
  expect(events.find((event) => event.type === 'user.interrupt')).toMatchObject({ status: 'processed' });
  await chat.run('Well?');
  expect(readChat(service.model.requests[1]!).slice(1)).toEqual([
    'user: Go.',
    `assistant: ${textOf(kept)}`,
    expect.stringMatching(/^user: .*interrupted by the user, who said: Too long\..*Well\?$/s),
  ]);
  chat.close();
});

it('kills the command that runs, and its result says so', async () => {
  service.model.play(callTool('terminal', { command: 'sleep 98765.4' }), say('Sorry.'));
  const chat = await openChat();
  await chat.prompt('Go.');
  const use = await chat.next((frame) => frame.type === 'agent.tool_use' && frame.status === 'complete');
  await expect.poll(() => isRunning('sleep 98765.4')).toBe(true);
  await chat.send(interrupt());
  const result = await chat.next('agent.tool_result');
  expect(result.payload).toMatchObject({ tool_use_id: use.id, is_error: true });
  expect((await chat.next('session.status_idle')).payload).toMatchObject({ interrupted: true });
  await expect.poll(() => isRunning('sleep 98765.4')).toBe(false);
  await chat.run('Well?');
  const said = readChat(service.model.requests[1]!);
  expect(said.filter((line) => line.startsWith('tool:')).join()).toContain('Interrupted by the user');
  expect(said.at(-1)).toContain('interrupted by the user]');
  chat.close();
});

it('keeps the results that were there, and gives one to each call that had begun', async () => {
  service.model.play(
    callTools([
      ['track', { key: 'a' }],
      ['hold', { key: 'interrupted' }],
      ['track', { key: 'never' }],
    ]),
  );
  const chat = await openChat();
  await chat.prompt('Go.');
  await gates.held('interrupted');
  await chat.send(interrupt());
  await chat.next('session.status_idle');
  const events = await chat.list();
  const of = (type: string) => events.filter((event) => event.type === type);
  expect(of('agent.tool_use').map(({ payload }) => payload['input'])).toEqual([{ key: 'a' }, { key: 'interrupted' }]);
  expect(of('agent.tool_result').map(({ payload }) => [payload['tool_use_id'], payload['is_error']])).toEqual([
    [of('agent.tool_use')[0]?.id, false],
    [of('agent.tool_use')[1]?.id, true],
  ]);
  expect(gates.together.has('never')).toBe(false);
  chat.close();
});

it('cancels the pending actions of a waiting session', async () => {
  const chat = await openChat([
    { type: 'agent_toolset', defaultConfig: { permissionPolicy: { type: 'always_ask' } } },
    customTool('lookup', 'always_allow'),
  ]);
  service.model.play(
    callTools([
      ['lookup', {}],
      ['terminal', { command: 'true' }],
    ]),
    say('Fine.'),
  );
  await chat.prompt('Go.');
  const use = await chat.next('agent.custom_tool_use');
  const request = await chat.next('agent.approval_request');
  await chat.next('session.status_idle');
  await chat.send(interrupt('Never mind.'));
  const idle = await chat.next('session.status_idle');
  expect(idle.payload).toMatchObject({ stop_reason: { type: 'end_turn' }, interrupted: true });
  expect(await chat.session()).toMatchObject({ status: 'idle', pendingActions: [] });
  for (const late of [allow(request.id), toolResult(use.id, 'x')]) {
    expect(await chat.send(late)).toMatchObject({ status: 410, body: { error: 'response_expired', retryable: false } });
  }
  expect(typesOf(await chat.list())).not.toContain('agent.tool_use');
  await chat.run('So?');
  expect(readChat(service.model.requests[1]!).at(-1)).toContain('Never mind.');
  chat.close();
});

it('lets the prompts that wait run next', async () => {
  service.model.play(endless('I will tell you a long story about it.'), say('two'), say('three'));
  const chat = await openChat();
  await chat.prompt('one');
  await chat.next('agent.message');
  await chat.prompt('two');
  await chat.prompt('three');
  await chat.send(interrupt('Stop.'));
  const ends = [
    await chat.next('session.status_idle'),
    await chat.next('session.status_idle'),
    await chat.next('session.status_idle'),
  ];
  expect(ends.map(({ payload }) => payload['interrupted'])).toEqual([true, undefined, undefined]);
  expect(readChat(service.model.requests[1]!).at(-1)).toMatch(/Stop\..*two$/s);
  expect(readChat(service.model.requests[2]!).at(-1)).toBe('user: three');
  chat.close();
});

it('does not let guidance of the broken turn start another one', async () => {
  service.model.play(endless('I will tell you a long story about it.'), say('yes'));
  const chat = await openChat();
  await chat.prompt('one');
  await chat.next('agent.message');
  await chat.send(steer('Shorter.'));
  await chat.send(interrupt('Stop.'));
  await chat.next('session.status_idle');
  await chat.run('two');
  const last = readChat(service.model.requests[1]!).at(-1);
  expect(last).toMatch(/Stop\..*Shorter\..*two$/s);
  expect(service.model.requests).toHaveLength(2);
  chat.close();
});
