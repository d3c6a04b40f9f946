import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EventEnvelope } from '../../src/agents/contract/events.ts';
import { allow, deny, textOf, typesOf } from '../support/chat.ts';
import type { Chat } from '../support/chat.ts';
import { callTool, callTools, readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const write = (path: string) => callTool('write_file', { path, content: 'x' });
const isEnd = ({ type, payload }: EventEnvelope) =>
  type === 'session.status_idle' && (payload['stop_reason'] as { type: string }).type === 'end_turn';
const askedFor = (idle: EventEnvelope) => (idle.payload['stop_reason'] as { event_ids?: string[] }).event_ids;

/** Sends a prompt whose reply requests an approval; resolves with the pending action. */
async function ask(chat: Chat): Promise<EventEnvelope> {
  await chat.prompt('Go.');
  const request = await chat.next('agent.approval_request');
  await chat.next('session.status_idle');
  return request;
}

it('a tool that needs approval waits for it and then runs', async () => {
  service.model.play(write('a.txt'), say('done'));
  const chat = await service.api.openChat();
  await chat.prompt('Go.');
  const request = await chat.next('agent.approval_request');
  expect(request.payload).toEqual({
    type: 'agent.approval_request',
    id: request.id,
    tool_use_id: expect.any(String),
    kind: 'builtin',
    tool_name: 'write_file',
    toolset: 'file',
    mcp_server_name: null,
    input: { path: 'a.txt', content: 'x' },
    scopes: ['once', 'session', 'always'],
  });
  const pause = await chat.next('session.status_idle');
  expect(pause.payload).toEqual({
    type: 'session.status_idle',
    stop_reason: { type: 'requires_action', event_ids: [request.id] },
  });
  expect(await chat.session()).toMatchObject({
    status: 'waiting_on_human',
    pendingActions: [{ eventId: request.id, type: 'agent.approval_request' }],
    usage: null,
  });

  const answer = await chat.send(allow(request.id));
  expect(answer).toMatchObject({ status: 200, body: { data: [{ status: 'processed', turnId: request.turnId }] } });
  const idle = await chat.next('session.status_idle');
  expect(idle.payload).toMatchObject({ stop_reason: { type: 'end_turn' }, usage: { calls: 2 } });
  const events = await chat.list();
  expect(typesOf(events)).toEqual([
    'user.message',
    'session.status_running',
    'agent.approval_request',
    'session.status_idle',
    'user.approval_response',
    'session.status_running',
    'agent.tool_use',
    'agent.tool_result',
    'agent.message',
    'session.status_idle',
  ]);
  expect(events[6]?.payload).toEqual({
    type: 'agent.tool_use',
    id: request.payload['tool_use_id'],
    name: 'write_file',
    toolset: 'file',
    input: { path: 'a.txt', content: 'x' },
    evaluated_permission: 'ask',
  });
  expect(events[7]?.payload).toMatchObject({
    tool_use_id: request.payload['tool_use_id'],
    name: 'write_file',
    is_error: false,
    duration_ms: expect.any(Number),
  });
  expect((await chat.session()).pendingActions).toEqual([]);
  expect(await chat.send(allow(request.id))).toMatchObject({
    status: 410,
    body: { error: 'response_expired', retryable: false },
  });
  chat.close();
});

it('once asks again; session does not, for this tool in this session', async () => {
  const chat = await service.api.openChat();
  service.model.play(
    write('a'),
    say('1'),
    write('b'),
    say('2'),
    write('c'),
    say('3'),
    callTool('terminal', { command: 'true' }),
  );
  await chat.send(allow((await ask(chat)).id, 'once'));
  await chat.next('session.status_idle');
  await chat.send(allow((await ask(chat)).id, 'session'));
  await chat.next('session.status_idle');
  expect((await chat.run('Again.')).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  expect(await ask(chat)).toMatchObject({ payload: { tool_name: 'terminal' } });
  const other = await service.api.openChat(chat.agent);
  service.model.play(write('d'));
  expect((await ask(other)).payload).toMatchObject({ tool_name: 'write_file' });
  chat.close();
  other.close();
});

it('always holds for the agent and the subject until it is revoked', async () => {
  const first = await service.api.openChat();
  const { agent } = first;
  service.model.play(write('a'), say('1'));
  await first.send(allow((await ask(first)).id, 'always'));
  await first.next('session.status_idle');

  const second = await service.api.openChat(agent);
  service.model.play(write('b'), say('2'));
  expect((await second.run('Go.')).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  const use = (await second.list()).find((event) => event.type === 'agent.tool_use');
  expect(use?.payload).toMatchObject({ evaluated_permission: 'ask' });

  const stranger = await service.api.openChat(agent, { subjectId: 'bert' });
  service.model.play(write('c'));
  expect(await ask(stranger)).toBeDefined();

  const path = `/v1/agents/${agent.id}/users/anna/approvals`;
  expect((await service.api.call('GET', path)).body).toMatchObject({
    data: [{ object: 'approval', tool: 'write_file' }],
  });
  expect(await service.api.call('DELETE', `${path}/write_file`)).toEqual({
    status: 200,
    body: { object: 'approval.deleted', tool: 'write_file', deleted: true },
  });
  service.model.play(write('d'));
  expect(await ask(second)).toBeDefined();
  [first, second, stranger].forEach((chat) => chat.close());
});

it('a denied call becomes a use with deny and an error that the model reads', async () => {
  const chat = await service.api.openChat();
  service.model.play(write('a'), say('I see.'));
  const request = await ask(chat);
  await chat.send(deny(request.id));
  const idle = await chat.next('session.status_idle');
  expect(idle.payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  const events = await chat.list();
  const use = events.find((event) => event.type === 'agent.tool_use');
  expect(use?.payload).toMatchObject({
    id: request.payload['tool_use_id'],
    name: 'write_file',
    toolset: 'file',
    evaluated_permission: 'deny',
  });
  const result = events.find((event) => event.type === 'agent.tool_result');
  expect(result?.payload).toMatchObject({ tool_use_id: use?.id, is_error: true });
  expect(readChat(service.model.requests[1]!).at(-1)).toContain('The user denied this call.');
  expect(textOf(events.find((event) => event.type === 'agent.message'))).toBe('I see.');
  chat.close();
});

it('of two asks the one that is left is asked for again', async () => {
  const chat = await service.api.openChat();
  service.model.play(
    callTools([
      ['write_file', { path: 'a', content: '1' }],
      ['terminal', { command: 'cat a' }],
    ]),
    say('done'),
  );
  await chat.prompt('Go.');
  const first = await chat.next('agent.approval_request');
  const second = await chat.next('agent.approval_request');
  expect(askedFor(await chat.next('session.status_idle'))).toEqual([first.id, second.id]);
  await chat.send(allow(second.id));
  expect(askedFor(await chat.next('session.status_idle'))).toEqual([first.id]);
  expect(await chat.session()).toMatchObject({
    status: 'waiting_on_human',
    pendingActions: [{ eventId: first.id }],
  });
  expect(chat.frames.some((frame) => frame.type === 'agent.tool_result')).toBe(false);
  await chat.send(allow(first.id));
  await chat.next('session.status_idle');
  const results = (await chat.list()).filter((event) => event.type === 'agent.tool_result');
  expect(results.map((event) => event.payload['name'])).toEqual(['write_file', 'terminal']);
  expect(textOf(results[1])).toContain('"output":"1"');
  chat.close();
});

it('two answers in one request set the turn going once', async () => {
  const chat = await service.api.openChat();
  service.model.play(
    callTools([
      ['write_file', { path: 'a', content: '1' }],
      ['terminal', { command: 'true' }],
    ]),
  );
  await chat.prompt('Go.');
  const asked = [await chat.next('agent.approval_request'), await chat.next('agent.approval_request')];
  await chat.next('session.status_idle');
  await chat.send(...asked.map(({ id }) => allow(id)));
  await chat.next('session.status_idle');
  const types = typesOf(await chat.list());
  expect(types.filter((type) => type === 'session.status_running')).toHaveLength(2);
  expect(types.filter((type) => type === 'session.status_idle')).toHaveLength(2);
  chat.close();
});

it('yoloMode is read at each decision, also when it was switched on while the session waited', async () => {
  const chat = await service.api.openChat();
  service.model.play(write('a'), write('b'), say('done'), write('c'));
  const request = await ask(chat);
  await service.api.call('POST', `/v1/sessions/${chat.id}`, { yoloMode: true });
  expect((await chat.session()).status).toBe('waiting_on_human');
  await chat.send(allow(request.id));
  expect((await chat.next('session.status_idle')).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  await service.api.call('POST', `/v1/sessions/${chat.id}`, { yoloMode: false });
  expect(await ask(chat)).toBeDefined();
  chat.close();
});

it('an unanswered approval in an automation run counts as denied', async () => {
  const hurried = await startService({ runApprovalMs: 300 });
  try {
    hurried.model.play(write('a.txt'), say('It was not allowed.'));
    const agent = await hurried.api.createAgent();
    const path = `/v1/agents/${agent.id}/users/anna/automations`;
    const made = await hurried.api.call<{ id: string }>('POST', path, { prompt: 'Write.', schedule: 'every 2h' });
    const run = await hurried.api.call<{ sessionId: string }>('POST', `${path}/${made.body.id}/trigger`);
    const chat = await hurried.api.joinChat(agent, run.body.sessionId, '?after=0');
    const request = await chat.next('agent.approval_request');
    await chat.next(isEnd);
    const events = await chat.list();
    expect(events.find(({ type }) => type === 'agent.tool_use')?.payload).toMatchObject({
      evaluated_permission: 'deny',
    });
    const result = events.find(({ type }) => type === 'agent.tool_result');
    expect(result?.payload).toMatchObject({ is_error: true });
    expect(textOf(result)).toContain('Nobody approved this call in time');
    expect((await chat.send(allow(request.id))).status).toBe(410);
    chat.close();
  } finally {
    await hurried.close();
  }
});
