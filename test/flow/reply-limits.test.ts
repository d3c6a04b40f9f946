import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowAll, typesOf } from '../support/chat.ts';
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

it('a tool call that was cut off is told as such, and five in a row end the turn', async () => {
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
