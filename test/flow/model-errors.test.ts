import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowAll, textOf, typesOf } from '../support/chat.ts';
import type { Chat } from '../support/chat.ts';
import { callTool, readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ maxSteps: 3, retryForMs: 1500 });
});
afterAll(() => service.close());

const STORY = 'It was a dark and stormy night. '.repeat(20);

/** The prompt of a failed turn counts as consumed. */
async function expectPromptTaken(chat: Chat): Promise<void> {
  const prompts = (await chat.list()).filter((event) => event.type === 'user.message');
  expect(prompts.map((event) => event.status)).toEqual(['processed']);
}

/** After a failed turn the next one succeeds, and the model also reads the unanswered prompt. */
async function expectUsable(chat: Chat): Promise<void> {
  service.model.play(say('Here again.'));
  const idle = await chat.run('Still there?');
  expect(idle.payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  expect(await chat.session()).toMatchObject({ status: 'idle', queuedCount: 0 });
  chat.close();
}

it.each([
  {
    what: 'a refused key',
    answer: { status: 401, body: '{"error":{"message":"Incorrect API key provided: sk-verysecret0123456789"}}' },
    code: 'upstream_authentication',
    message: 'The provider rejected its API key.',
  },
  {
    what: 'a full context window',
    answer: { status: 400, body: '{"error":{"message":"too long","code":"context_length_exceeded"}}' },
    code: 'context_overflow',
    message: "The conversation exceeds the model's context window.",
  },
  {
    what: 'a request that the provider does not take',
    answer: { status: 400, body: '{"error":{"message":"temperature is out of range"}}' },
    code: 'upstream_rejected',
    message: 'temperature is out of range',
  },
])('$what ends the turn with an error, at once, and not the session', async ({ answer, code, message }) => {
  service.model.play(answer, answer);
  const chat = await service.api.openChat();
  const idle = await chat.run('Go.');
  expect(idle.payload['stop_reason']).toEqual({ type: 'error', code, message, retryable: false });
  expect(idle.payload).toHaveProperty('usage');
  expect(service.model.requests).toHaveLength(1);
  expect(await chat.session()).toMatchObject({ status: 'idle' });
  await expectPromptTaken(chat);
  await expectUsable(chat);
});

it('a model that no provider has ends the turn with an error that names it', async () => {
  const chat = await service.api.openChat(await service.api.createAgent({ modelName: 'nowhere/x' }));
  const idle = await chat.run('Go.');
  expect(idle.payload['stop_reason']).toMatchObject({ type: 'error', message: expect.stringContaining('nowhere/x') });
  chat.close();
});

it('a provider that fails and then answers is tried again, unseen', async () => {
  service.model.play({ status: 500 }, { status: 503 }, say('fine'));
  const chat = await service.api.openChat();
  expect((await chat.run('Go.')).payload).toMatchObject({ stop_reason: { type: 'end_turn' }, usage: { calls: 1 } });
  expect(service.model.requests).toHaveLength(3);
  expect(typesOf(await chat.list())).toHaveLength(4);
  chat.close();
});

it('a stream that breaks is asked for again, under another id', async () => {
  service.model.play({ ...say(STORY), cutAfterBytes: 2500, chunkBytes: 500 }, say(STORY));
  const chat = await service.api.openChat();
  expect((await chat.run('Go.')).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  const messages = (await chat.list()).filter((event) => event.type === 'agent.message');
  expect(messages.map(textOf)).toEqual([STORY]);
  const deltas = chat.frames.filter((frame) => frame.payload['delta'] === true);
  const broken = deltas.filter((delta) => delta.id !== messages[0]?.id);
  expect(broken.length).toBeGreaterThan(0);
  const discarded = chat.frames.filter((frame) => frame.type === 'agent.message_discarded');
  expect(discarded.map((frame) => frame.payload['id'])).toEqual([...new Set(broken.map(({ id }) => id))]);
  expect(chat.frames.indexOf(discarded[0]!)).toBeGreaterThan(chat.frames.indexOf(broken.at(-1)!));
  const joined = deltas.filter((delta) => delta.id === messages[0]?.id);
  expect(chat.frames.indexOf(discarded[0]!)).toBeLessThan(chat.frames.indexOf(joined[0]!));
  expect(STORY.startsWith(joined.map(textOf).join(''))).toBe(true);
  expect(service.model.requests).toHaveLength(2);
  chat.close();
});

it('a stream that breaks each time ends the turn with an error', async () => {
  const broken = { ...say(STORY), cutAfterBytes: 2500, chunkBytes: 500 };
  service.model.play(...Array.from({ length: 50 }, () => broken));
  const chat = await service.api.openChat();
  const idle = await chat.run('Go.');
  const message = "The provider's reply was cut off.";
  expect(idle.payload['stop_reason']).toEqual({
    type: 'error',
    code: 'upstream_unavailable',
    message,
    retryable: true,
  });
  expect(service.model.requests.length).toBeGreaterThan(1);
  await expectUsable(chat);
  expect(readChat(service.model.requests[0]!).slice(1)).toEqual(['user: Go.Still there?']);
});

it('a turn ends with an error after as many model calls as it may make', async () => {
  const again = callTool('todo', {});
  service.model.play(again, again, again, again);
  const chat = await service.api.openChat(await service.api.createAgent({ tools: allowAll }));
  const idle = await chat.run('Go.');
  expect(idle.payload).toMatchObject({
    stop_reason: { type: 'error', message: expect.stringContaining('limit of 3 model calls') },
    usage: { calls: 3 },
  });
  expect(service.model.requests).toHaveLength(3);
  await expectUsable(chat);
});

it('a title that cannot be made is tried again after the next turn', async () => {
  service.model.play(say('Hello.'), say('Hello again.'));
  service.model.title = null;
  const chat = await service.api.openChat(undefined, { title: undefined });
  await chat.run('Hi');
  await expect.poll(() => service.model.titles.length).toBe(1);
  service.model.title = 'At last';
  await chat.run('Hi again');
  expect((await chat.next('session.title_updated')).payload['title']).toBe('At last');
  chat.close();
});
