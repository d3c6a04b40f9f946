import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Session } from '../../src/agents/contract/sessions.ts';
import { callTool, readChat, say } from '../support/service-model.ts';
import { allow, interrupt, prompt, steer, textOf, typesOf } from '../support/chat.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** A reply that is held until it is released. */
function hold(text: string) {
  const gate = Promise.withResolvers<void>();
  const answer = async () => {
    await gate.promise;
    return say(text);
  };
  return { answer, open: () => gate.resolve() };
}

it('prompts that come while a turn runs wait, and run one by one, the oldest first', async () => {
  const [first, second] = [hold('1'), hold('2')];
  service.model.play(first.answer, second.answer, say('3'));
  const chat = await service.api.openChat();
  await chat.prompt('one');
  await service.model.request(0);
  const queued = await chat.prompt('two');
  expect(queued).toMatchObject({
    status: 202,
    body: { data: [{ status: 'queued', turnId: null, processedAt: null }] },
  });
  expect((await chat.prompt('three')).status).toBe(202);
  expect(await chat.session()).toMatchObject({ status: 'running', queuedCount: 2 });
  first.open();
  const idle = await chat.next('session.status_idle');

  // the turn of the second prompt has begun; its model has not answered yet
  await service.model.request(1);
  const during = await chat.list();
  const inLine = during.filter((event) => event.type === 'user.message');
  expect(inLine.map(({ status }) => status)).toEqual(['processed', 'received', 'queued']);
  expect(inLine[1]?.turnId).not.toBe(idle.turnId);
  expect(inLine[1]?.turnId).toEqual(expect.any(String));
  expect((await chat.session()).queuedCount).toBe(1);
  second.open();
  await chat.next('session.status_idle');
  await chat.next('session.status_idle');
  const events = await chat.list();
  expect(events.filter((event) => event.type === 'user.message').map(({ status }) => status)).toEqual([
    'processed',
    'processed',
    'processed',
  ]);
  expect(readChat(service.model.requests[2]!).slice(1)).toEqual([
    'user: one',
    'assistant: 1',
    'user: two',
    'assistant: 2',
    'user: three',
  ]);
  const ends = events.filter((event) => event.type === 'session.status_idle');
  expect(new Set(ends.map((event) => event.turnId)).size).toBe(3);
  chat.close();
});

it('when_idle waits in a busy session and starts at once in an idle one', async () => {
  const first = hold('1');
  service.model.play(first.answer, say('2'));
  const chat = await service.api.openChat();
  const send = (text: string) =>
    service.api.call('POST', `/v1/sessions/${chat.id}/events`, { events: [prompt(text)], delivery: 'when_idle' });
  expect((await send('one')).status).toBe(200);
  await service.model.request(0);
  expect((await send('two')).status).toBe(202);
  first.open();
  await chat.next('session.status_idle');
  await chat.next('session.status_idle');
  expect(service.model.requests).toHaveLength(2);
  const wrong = { events: [steer('x')], delivery: 'when_idle' };
  expect((await service.api.call('POST', `/v1/sessions/${chat.id}/events`, wrong)).status).toBe(400);
  chat.close();
});

it('a prompt with a control event is refused while a turn is live, and nothing of it is kept', async () => {
  const first = hold('1');
  service.model.play(first.answer);
  const chat = await service.api.openChat();
  await chat.prompt('one');
  await service.model.request(0);
  for (const control of [steer('left'), interrupt()]) {
    expect(await chat.send(prompt('two'), control)).toMatchObject({ status: 409, body: { error: 'invalid_state' } });
  }
  first.open();
  expect((await chat.next('session.status_idle')).payload).not.toHaveProperty('interrupted');
  expect(typesOf(await chat.list()).filter((type) => type.startsWith('user.'))).toEqual(['user.message']);
  chat.close();
});

it('a steer or an interrupt without a live turn is refused', async () => {
  const chat = await service.api.openChat();
  for (const control of [steer('left'), interrupt()]) {
    expect(await chat.send(control)).toMatchObject({ status: 409, body: { error: 'no_active_turn' } });
  }
  chat.close();
});

it('a prompt to a waiting session waits with it', async () => {
  service.model.play(callTool('terminal', { command: 'true' }), say('ran'), say('next'));
  const chat = await service.api.openChat();
  await chat.prompt('one');
  const request = await chat.next('agent.approval_request');
  await chat.next('session.status_idle');
  expect((await chat.prompt('two')).status).toBe(202);
  expect(await chat.session()).toMatchObject({ status: 'waiting_on_human', queuedCount: 1 });
  await chat.send(allow(request.id));
  await chat.next('session.status_idle');
  await chat.next('session.status_idle');
  const said = (await chat.list()).filter((event) => event.type === 'agent.message').map(textOf);
  expect(said).toEqual(['ran', 'next']);
  chat.close();
});

it('an archived session accepts no events, and its pending actions are dropped', async () => {
  service.model.play(callTool('terminal', { command: 'true' }));
  const chat = await service.api.openChat();
  await chat.prompt('one');
  const request = await chat.next('agent.approval_request');
  await chat.next('session.status_idle');
  await chat.prompt('two');
  const archived = await service.api.call('POST', `/v1/sessions/${chat.id}/archive`);
  expect(archived).toMatchObject({ status: 200, body: { status: 'archived', queuedCount: 0, pendingActions: [] } });
  expect((await chat.send(allow(request.id))).status).toBe(410);
  expect(await chat.prompt('three')).toMatchObject({ status: 409, body: { error: 'invalid_state' } });
  expect(service.model.requests).toHaveLength(1);
  chat.close();
});

it('usage of a waiting turn counts even if its session is archived', async () => {
  service.model.play(say('Hi.'), callTool('terminal', { command: 'true' }));
  const chat = await service.api.openChat();
  const before = (await chat.run('one')).usage;
  await chat.prompt('two');
  await chat.next('session.status_idle');
  const archived = await service.api.call<Session>('POST', `/v1/sessions/${chat.id}/archive`);
  const idle = (await chat.list()).findLast(({ type }) => type === 'session.status_idle');
  expect(idle?.usage).toMatchObject({ calls: 1 });
  expect(archived.body.usage).toMatchObject({
    calls: 2,
    input: (before?.input ?? NaN) + (idle?.usage?.input ?? NaN),
    context_used: idle?.usage?.context_used,
  });
  chat.close();
});

it('a running session is neither archived nor deleted; a deleted one is gone', async () => {
  const first = hold('1');
  service.model.play(first.answer);
  const chat = await service.api.openChat();
  const path = `/v1/sessions/${chat.id}`;
  await chat.prompt('one');
  await service.model.request(0);
  expect(await service.api.call('POST', `${path}/archive`)).toMatchObject({ status: 409 });
  expect(await service.api.call('DELETE', path)).toMatchObject({ status: 409 });
  first.open();
  await chat.next('session.status_idle');
  expect(await service.api.call('DELETE', path)).toMatchObject({ status: 200, body: { id: chat.id, deleted: true } });
  expect((await chat.prompt('two')).status).toBe(404);
  chat.close();
});
