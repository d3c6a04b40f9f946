import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowAll, textOf, typesOf } from '../support/chat.ts';
import { callTool, readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const openChat = async () => service.api.openChat(await service.api.createAgent({ tools: allowAll }));
const cut = (content: string) => {
  const { reply } = callTool('write_file', `{"path":"a.txt","content":"${content}`);
  return { reply: { content: [], ...reply, finish: 'length' as const } };
};

it('a truncated tool call is reported as such, and five in a row end the turn', async () => {
  service.model.play(cut('a'), cut('ab'), cut('abc'), cut('abcd'), cut('abcde'), say('never asked'));
  const chat = await openChat();
  const idle = await chat.run('Write a long file.');
  expect(idle.payload['stop_reason']).toMatchObject({ type: 'error', code: 'repeated_failure', retryable: false });
  expect(service.model.requests).toHaveLength(5);
  const results = [1, 2, 3].map((number) => readChat(service.model.requests[number]!).at(-1) ?? '');
  expect(results[0]).toMatch(/cut off at its limit of \d+ output tokens.*smaller parts/);
  expect(results[0]).not.toContain('valid JSON');
  expect(results.map((result) => result.includes('Do not repeat it'))).toEqual([false, false, true]);
  chat.close();
});

it('a failing call that changes in between is no repetition', async () => {
  const read = (path: string) => callTool('read_file', { path });
  service.model.play(read('a'), read('a'), read('b'), read('a'), read('a'), read('b'), say('I give up.'));
  const chat = await openChat();
  expect((await chat.run('Go.')).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  chat.close();
});

it('an empty reply is asked for once more', async () => {
  service.model.play(say(''), say('Here.'));
  const chat = await openChat();
  expect((await chat.run('Go.')).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  expect(typesOf(await chat.list())).toContain('agent.message');
  service.model.play(say(''), say(''));
  const idle = await chat.run('Again.');
  expect(idle.payload['stop_reason']).toMatchObject({ type: 'error', code: 'empty_reply' });
  expect(service.model.requests).toHaveLength(2);
  chat.close();
});

it('a reply that was filtered ends the turn with the reason', async () => {
  service.model.play(say('', { finish: 'content_filter' }));
  const chat = await openChat();
  const idle = await chat.run('Go.');
  expect(idle.payload['stop_reason']).toMatchObject({ type: 'error', code: 'content_filtered', retryable: false });
  expect(service.model.requests).toHaveLength(1);
  chat.close();
});

const part = (text: string) => say(text, { finish: 'length' });

it('a text that was cut off is continued, as one message under one id', async () => {
  service.model.play(part('One, '), part('two, '), say('three.'));
  const chat = await openChat();
  const idle = await chat.run('Count.');
  expect(idle.payload).toMatchObject({ stop_reason: { type: 'end_turn' }, usage: { calls: 3 } });
  const messages = (await chat.list()).filter(({ type }) => type === 'agent.message');
  expect(messages.map(textOf)).toEqual(['One, two, three.']);
  const frames = chat.frames.filter(({ type, payload }) => type === 'agent.message' && payload['delta'] === true);
  expect(new Set(frames.map(({ id }) => id))).toEqual(new Set([messages[0]?.id]));
  expect(frames.map(textOf).join('')).toBe('One, two, three.');
  const offsets = frames.map(({ payload }) => payload['offset']);
  expect(offsets).toEqual(offsets.toSorted((left, right) => Number(left) - Number(right)));
  const [, second, third] = service.model.requests.map(readChat);
  expect(second?.slice(-2)).toEqual(['assistant: One, ', expect.stringMatching(/^user: .*Continue it exactly/)]);
  expect(third?.at(-2)).toBe('assistant: One, two, ');
  service.model.play(say('Four.'));
  await chat.run('And then?');
  expect(readChat(service.model.requests[0]!)).toContain('assistant: One, two, three.');
  chat.close();
});

it('a text that is cut off a fourth time ends the turn, and the text so far is kept', async () => {
  service.model.play(part('a'), part('b'), part('c'), part('d'), say('never asked'));
  const chat = await openChat();
  const idle = await chat.run('Go.');
  expect(idle.payload['stop_reason']).toMatchObject({ type: 'error', code: 'output_limit', retryable: false });
  expect(service.model.requests).toHaveLength(4);
  expect((await chat.list()).filter(({ type }) => type === 'agent.message').map(textOf)).toEqual(['abcd']);
  chat.close();
});

it('a continuation may call tools, and a failed one keeps the text so far', async () => {
  service.model.play(part('I will look: '), callTool('read_file', { path: 'a' }, 'here.'), say('Done.'));
  const chat = await openChat();
  await chat.run('Go.');
  const said = (await chat.list()).filter(({ type }) => type === 'agent.message').map(textOf);
  expect(said).toEqual(['I will look: here.', 'Done.']);
  service.model.play(part('Half'), { status: 401 });
  const idle = await chat.run('Again.');
  expect(idle.payload['stop_reason']).toMatchObject({ type: 'error', code: 'upstream_authentication' });
  expect(
    (await chat.list())
      .filter(({ type }) => type === 'agent.message')
      .map(textOf)
      .at(-1),
  ).toBe('Half');
  chat.close();
});
