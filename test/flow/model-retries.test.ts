import { afterAll, beforeAll, expect, it } from 'vitest';
import { interrupt, steer, textOf } from '../support/chat.ts';
import { readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ silenceMs: 500 });
});
afterAll(() => service.close());

const limited = (seconds: number) => ({ status: 429, headers: { 'retry-after': String(seconds) } });

it('30 sessions whose provider answers 429 once each all end well', async () => {
  const refused = new Set<string>();
  const answer = (request: { body: Record<string, unknown> }) => {
    const prompt = /session \d+\./.exec(JSON.stringify(request.body['messages']))?.[0] ?? '';
    if (refused.has(prompt)) return say(prompt);
    refused.add(prompt);
    return limited(1);
  };
  service.model.play(...Array.from({ length: 90 }, () => answer));
  const agent = await service.api.createAgent();
  const chats = await Promise.all(Array.from({ length: 30 }, () => service.api.openChat(agent)));
  const ends = await Promise.all(chats.map((chat, number) => chat.run(`I am session ${number}.`)));
  expect(refused.size).toBe(30);
  expect(ends.map(({ payload }) => payload['stop_reason'])).toEqual(chats.map(() => ({ type: 'end_turn' })));
  chats.forEach((chat) => chat.close());
});

it('a waiting turn reports reason and time, and continues with events that arrived meanwhile', async () => {
  service.model.play(limited(6), say('Hello.'), say('And hello again.'));
  const chat = await service.api.openChat();
  await chat.prompt('one');
  const { payload, createdAt } = await chat.next('session.waiting');
  expect(payload).toMatchObject({ code: 'upstream_rate_limited', attempt: 1, reason: expect.stringContaining('rate') });
  const { type: _type, ...waiting } = payload;
  expect(Date.parse(String(waiting['retryAt']))).toBeGreaterThan(Date.parse(createdAt));
  expect(await chat.session()).toMatchObject({ status: 'running', waiting });
  expect((await chat.prompt('two')).status).toBe(202);
  expect((await chat.send(steer('Be brief.'))).status).toBe(200);
  expect((await chat.session()).queuedCount).toBe(1);
  await chat.next('session.status_idle');
  await chat.next('session.status_idle');
  expect(readChat(service.model.requests[1]!).at(-1)).toContain('Be brief.');
  expect(service.model.requests).toHaveLength(3);
  const messages = (await chat.list()).filter(({ type }) => type === 'agent.message');
  expect(messages.map(textOf)).toEqual(['Hello.', 'And hello again.']);
  expect((await chat.session()).waiting).toBeNull();
  chat.close();
});

it('an interrupt ends the wait at once', async () => {
  service.model.play(limited(25));
  const chat = await service.api.openChat();
  await chat.prompt('one');
  const { payload } = await chat.next('session.waiting');
  await chat.send(interrupt());
  const idle = await chat.next('session.status_idle');
  expect(idle.payload).toMatchObject({ interrupted: true });
  expect(Date.parse(idle.createdAt)).toBeLessThan(Date.parse(String(payload['retryAt'])));
  expect(service.model.requests).toHaveLength(1);
  expect((await chat.session()).waiting).toBeNull();
  chat.close();
});

it.each(['before-headers', 'after-body'] as const)('a provider that hangs %s is asked again', async (hang) => {
  service.model.play({ body: ': hm\n\n', hang }, say('Here I am.'));
  const chat = await service.api.openChat();
  await chat.prompt('one');
  expect((await chat.next('session.waiting')).payload).toMatchObject({ code: 'upstream_unavailable' });
  expect((await chat.next('session.status_idle')).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  chat.close();
});
