import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventEnvelope } from '../../src/agents/contract/events.ts';
import { allow, customTool, deny, textOf, toolResult, typesOf } from '../support/chat.ts';
import type { Chat } from '../support/chat.ts';
import { callTool, callTools, readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const lookup = callTool('lookup', { id: '7' });
const finals = ['completed', 'failed'];

async function openChat(policy = 'always_allow', from = service): Promise<Chat> {
  return from.api.openChat(await from.api.createAgent({ tools: [customTool('lookup', policy)] }));
}

/** Sends a prompt whose reply calls the tool; resolves with the call. */
async function call(chat: Chat): Promise<EventEnvelope> {
  await chat.prompt('Go.');
  const use = await chat.next('agent.custom_tool_use');
  await chat.next('session.status_idle');
  return use;
}

const lastMessage = (number: number, from = service) => readChat(from.model.requests[number]!).at(-1);

describe('a custom tool', () => {
  it('is not called with an input that violates its schema; the model gets an error', async () => {
    service.model.play(callTool('lookup', { id: ['7'] }), callTool('lookup', '{"id":'), lookup);
    const chat = await openChat();
    const use = await call(chat);
    expect(use.payload).toMatchObject({ name: 'lookup', input: { id: '7' } });
    expect(lastMessage(1)).toContain('id: must be string');
    expect(lastMessage(2)).toContain('not valid JSON');
    const uses = (await chat.list()).filter(({ type }) => type === 'agent.custom_tool_use');
    expect(uses).toHaveLength(1);
    chat.close();
  });

  it('is asked for, approved, called and answered', async () => {
    service.model.play(lookup, say('done'));
    const chat = await openChat('always_ask');
    await chat.prompt('Go.');
    const request = await chat.next('agent.approval_request');
    expect(request.payload).toMatchObject({
      kind: 'custom',
      tool_name: 'lookup',
      toolset: null,
      mcp_server_name: null,
      input: { id: '7' },
    });
    await chat.next('session.status_idle');
    await chat.send(allow(request.id));
    const use = await chat.next('agent.custom_tool_use');
    expect(use.payload).toEqual({
      type: 'agent.custom_tool_use',
      id: request.payload['tool_use_id'],
      name: 'lookup',
      input: { id: '7' },
    });
    expect(use.id).toBe(use.payload['id']);
    const pause = await chat.next('session.status_idle');
    expect(pause.payload['stop_reason']).toEqual({ type: 'requires_action', event_ids: [use.id] });
    expect((await chat.session()).pendingActions).toEqual([{ eventId: use.id, type: 'agent.custom_tool_use' }]);
    await chat.send(toolResult(use.id, 'seven'));
    expect((await chat.next('session.status_idle')).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
    expect(lastMessage(1)).toBe('tool: seven');
    chat.close();
  });

  it('that is denied is no call: a use without toolset and an error', async () => {
    service.model.play(lookup, say('done'));
    const chat = await openChat('always_ask');
    await chat.prompt('Go.');
    const request = await chat.next('agent.approval_request');
    await chat.next('session.status_idle');
    await chat.send(deny(request.id));
    await chat.next('session.status_idle');
    const events = await chat.list();
    expect(typesOf(events)).not.toContain('agent.custom_tool_use');
    const use = events.find((event) => event.type === 'agent.tool_use');
    expect(use?.payload).toMatchObject({ name: 'lookup', toolset: null, evaluated_permission: 'deny' });
    expect(lastMessage(1)).toContain('denied');
    chat.close();
  });

  it.each([
    { status: undefined, isError: false },
    { status: 'completed', isError: false },
    { status: 'failed', isError: true },
  ])('is resolved by a result with status $status', async ({ status }) => {
    service.model.play(lookup, say('done'));
    const chat = await openChat();
    const use = await call(chat);
    expect(await chat.send(toolResult(use.id, 'seven', status))).toMatchObject({ status: 200 });
    expect((await chat.next('session.status_idle')).turnId).toBe(use.turnId);
    expect(lastMessage(1)).toContain('seven');
    const again = await chat.send(toolResult(use.id, 'eight', status));
    // a repeated final result returns the stored event; any other is too late
    expect([again.status, textOf(again.body.data?.[0])]).toEqual(status === undefined ? [410, ''] : [200, 'seven']);
    expect(service.model.requests).toHaveLength(2);
    chat.close();
  });

  it('that begins long work gets its final result later, which opens a turn', async () => {
    service.model.play(lookup, say('It runs.'), say('It is done.'));
    const chat = await openChat();
    const use = await call(chat);
    const kickoff = await chat.send(toolResult(use.id, 'started', 'running'));
    const first = await chat.next('session.status_idle');
    expect(first.turnId).toBe(use.turnId);
    expect(lastMessage(1)).toBe('tool: started');

    const final = await chat.send(toolResult(use.id, 'forty-two', 'completed'));
    expect(final).toMatchObject({ status: 200, body: { data: [{ id: kickoff.body.data[0]?.id }] } });
    const update = await chat.next('session.tool_updated');
    expect(update.payload).toMatchObject({
      tool_use_id: use.id,
      event_id: kickoff.body.data[0]?.id,
      payload: { type: 'user.custom_tool_result', status: 'completed', content: [{ type: 'text', text: 'forty-two' }] },
    });
    const second = await chat.next('session.status_idle');
    expect(second.turnId).not.toBe(use.turnId);
    // the model reads the final text in place of the first, and as the prompt of the turn
    const conversation = readChat(service.model.requests[2]!);
    expect(conversation.filter((line) => line === 'tool: forty-two')).toHaveLength(1);
    expect(conversation.join()).not.toContain('started');
    expect(conversation.at(-1)).toMatch(/^user: .*lookup has completed.*forty-two/s);

    const events = await chat.list();
    expect(textOf(events.find((event) => event.type === 'user.custom_tool_result'))).toBe('forty-two');
    expect(typesOf(events)).not.toContain('session.tool_updated');
    const retry = await chat.send(toolResult(use.id, 'forty-three', 'completed'));
    expect(textOf(retry.body.data[0])).toBe('forty-two');
    expect(await chat.session()).toMatchObject({ status: 'idle', queuedCount: 0 });
    expect(service.model.requests).toHaveLength(3);
    chat.close();
  });

  it('whose final result arrives during another turn waits for its own turn', async () => {
    const gate = Promise.withResolvers<void>();
    service.model.play(
      lookup,
      say('It runs.'),
      async () => {
        await gate.promise;
        return say('other');
      },
      say('told'),
    );
    const chat = await openChat();
    const use = await call(chat);
    await chat.send(toolResult(use.id, 'started', 'running'));
    await chat.next('session.status_idle');
    await chat.prompt('Something else.');
    await service.model.request(2);
    await chat.send(toolResult(use.id, 'broken', 'failed'));
    expect((await chat.session()).queuedCount).toBe(1);
    gate.resolve();
    await chat.next('session.status_idle');
    await chat.next('session.status_idle');
    expect(lastMessage(3)).toMatch(/lookup has failed.*broken/s);
    expect((await chat.session()).queuedCount).toBe(0);
    chat.close();
  });

  it('is not answered for a session that does not know it', async () => {
    const chat = await openChat();
    expect((await chat.send(toolResult('evt_unknown', 'x'))).status).toBe(404);
    chat.close();
  });
});

describe('an application that does not answer in time', () => {
  let hasty: Service;
  beforeAll(async () => {
    hasty = await startService({ customToolTimeoutMs: 300 });
  });
  afterAll(() => hasty.close());

  it('is gone on without: the model reads an error', async () => {
    hasty.model.play(lookup, say('Too bad.'), say('Late, but fine.'));
    const chat = await openChat('always_allow', hasty);
    const use = await call(chat);
    const idle = await chat.next('session.status_idle');
    expect(idle).toMatchObject({ turnId: use.turnId, payload: { stop_reason: { type: 'end_turn' } } });
    expect(lastMessage(1, hasty)).toContain('did not answer in time');
    const events = await chat.list();
    const result = events.find((event) => event.type === 'agent.tool_result');
    expect(result?.payload).toMatchObject({ tool_use_id: use.id, name: 'lookup', is_error: true });
    expect(typesOf(events).filter((type) => type === 'session.status_running')).toHaveLength(2);

    for (const status of [undefined, 'running']) {
      expect(await chat.send(toolResult(use.id, 'x', status))).toMatchObject({
        status: 410,
        body: { error: 'response_expired', retryable: false },
      });
    }
    const late = await chat.send(toolResult(use.id, 'at last', 'completed'));
    expect(late.status).toBe(200);
    const second = await chat.next('session.status_idle');
    expect(second.turnId).not.toBe(use.turnId);
    expect(lastMessage(2, hasty)).toMatch(/lookup has completed.*at last/s);
    const stored = (await chat.list()).find((event) => event.type === 'user.custom_tool_result');
    expect(stored).toMatchObject({ status: 'processed', turnId: second.turnId });
    for (const status of finals) {
      const again = await chat.send(toolResult(use.id, 'x', status));
      expect(again.body.data[0]?.id).toBe(stored?.id);
    }
    chat.close();
  });

  it('does not limit answers to pending actions', async () => {
    const tools = [customTool('lookup', 'always_allow'), customTool('risky', 'always_ask')];
    const chat = await hasty.api.openChat(await hasty.api.createAgent({ tools }));
    hasty.model.play(
      callTools([
        ['lookup', {}],
        ['risky', {}],
      ]),
      say('done'),
    );
    await chat.prompt('Go.');
    const request = await chat.next('agent.approval_request');
    const isLeft = (frame: EventEnvelope) =>
      JSON.stringify((frame.payload['stop_reason'] as { event_ids?: string[] } | undefined)?.event_ids) ===
      JSON.stringify([request.id]);
    await chat.next(isLeft);
    await chat.prompt('And then?');
    expect(await chat.session()).toMatchObject({
      status: 'waiting_on_human',
      pendingActions: [{ eventId: request.id }],
    });
    await chat.send(deny(request.id));
    expect((await chat.next('session.status_idle')).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
    await chat.next('session.status_idle');
    chat.close();
  });
});
