import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ModelUsage } from '../../src/inference/model.ts';
import { allowAll, interrupt, textOf, typesOf } from '../support/chat.ts';
import type { Chat } from '../support/chat.ts';
import { callTool, readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** Tokens as the provider counts them; the window of `acme/small` is 32,000. */
const tokens = (input: number): { usage: ModelUsage } => ({
  usage: { input, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
});
const STORY = 'It was a dark and stormy night. '.repeat(100);
const OVERFLOW = {
  status: 400,
  body: '{"error":{"message":"too long","code":"context_length_exceeded"}}',
};

/** This many exchanges of some length, each with a small token count except the last. */
async function talk(chat: Chat, count: number, lastTokens: number): Promise<void> {
  for (let number = 1; number <= count; number += 1) {
    service.model.play(say(`Answer ${number}. ${STORY}`, tokens(number === count ? lastTokens : 1000)));
    await chat.run(`Question ${number}. ${STORY}`);
  }
}

const compactions = async (chat: Chat) => (await chat.list()).filter(({ type }) => type === 'session.compacted');

it('sums up the middle once the prompt has grown to half to three quarters of the window', async () => {
  const chat = await service.api.openChat();
  await talk(chat, 12, 15_000);
  service.model.play(say('Still here.', tokens(24_000)));
  await chat.run('Small enough?');
  expect(service.model.summarized).toHaveLength(0);

  service.model.play(say('Much shorter.', tokens(5000)));
  service.model.summaries = [say('THE SUMMARY', tokens(700))];
  const idle = await chat.run('And now?');
  expect(service.model.summarized).toHaveLength(1);
  const asked = readChat(service.model.summarized[0]!)[1]!;
  expect(asked).toContain('Question 2.');
  expect(asked).not.toContain('And now?');
  const read = readChat(service.model.requests[0]!);
  expect(read[1]).toContain('Question 1.');
  expect(read[2]).toContain('Answer 1.');
  expect(read[3]).toMatch(/^user: .*for reference only[\s\S]*THE SUMMARY[\s\S]*End of the summary/);
  expect(read.at(-2)).toContain('Still here.');
  expect(read.at(-1)).toBe('user: And now?');
  expect(read.join('\n')).not.toContain('Question 5.');
  // The summary's tokens count, and the context usage is that of the last prompt.
  expect(idle.usage).toMatchObject({ calls: 2, input: 5700, context_used: 5010 });

  // The whole history stays readable, and the event counts the compactions.
  const log = await chat.list();
  expect(log.filter(({ type }) => type === 'user.message')).toHaveLength(14);
  expect(textOf(log.find(({ type }) => type === 'user.message'))).toContain('Question 1.');
  expect(typesOf(log).slice(-4)).toEqual([
    'session.status_running',
    'session.compacted',
    'agent.message',
    'session.status_idle',
  ]);
  expect((await compactions(chat))[0]?.payload).toEqual({ type: 'session.compacted', compression_count: 1 });
  expect(JSON.stringify(log)).not.toContain('THE SUMMARY');

  // The next turn reads the same summary, not a new one.
  service.model.play(say('Fine.', tokens(6000)));
  await chat.run('How is it now?');
  expect(service.model.summarized).toHaveLength(0);
  expect(readChat(service.model.requests[0]!).slice(0, read.length)).toEqual(read);
  chat.close();
});

it('builds the next summary from the last one and the messages since', async () => {
  const chat = await service.api.openChat();
  await talk(chat, 8, 24_000);
  service.model.play(say('Go on.', tokens(3000)));
  service.model.summaries = [say('FIRST SUMMARY')];
  await chat.run('First time.');
  await talk(chat, 8, 24_000);
  service.model.play(say('Go on.', tokens(3000)));
  service.model.summaries = [say('SECOND SUMMARY')];
  await chat.run('Second time.');
  const asked = readChat(service.model.summarized[0]!)[1]!;
  expect(asked).toContain('FIRST SUMMARY');
  // Only the part that the first summary did not cover: its original prompt is the earliest.
  expect(asked).toContain('First time.');
  expect(asked.match(/Question 2\./g)).toHaveLength(1);
  const read = readChat(service.model.requests[0]!).join('\n');
  expect(read).toContain('SECOND SUMMARY');
  expect(read).not.toContain('FIRST SUMMARY');
  expect((await compactions(chat)).map(({ payload }) => payload['compression_count'])).toEqual([1, 2]);
  chat.close();
});

it('compacts inside a long turn: the prompt and the task list stay, files are shown again', async () => {
  const agent = await service.api.createAgent({ tools: allowAll });
  const chat = await service.api.openChat(agent);
  const todos = [{ id: '1', content: 'Read it all', status: 'in_progress' }];
  const page = 'a line of the file\n'.repeat(600);
  const read = () => callTool('read_file', { path: 'long.txt' });
  service.model.play(
    callTool('todo', { todos }),
    callTool('write_file', { path: 'long.txt', content: page }),
    ...Array.from({ length: 8 }, (_, number) => callTool('terminal', { command: `echo ${number}; cat long.txt` })),
    read(),
    { reply: { ...read().reply, ...tokens(24_000) } },
    read(),
    say('All read.'),
  );
  service.model.summaries = [say('THE SUMMARY')];
  const idle = await chat.run('Read the long file again and again.');
  expect(idle.payload['stop_reason']).toEqual({ type: 'end_turn' });
  expect(service.model.summarized).toHaveLength(1);
  const after = readChat(service.model.requests[12]!);
  expect(after[1]).toMatch(/THE SUMMARY[\s\S]*\[>\] 1\. Read it all[\s\S]*Read the long file again and again\.$/);
  // Before the compaction the file was unchanged and not shown again; after it, it is.
  expect(after.at(-1)).not.toContain('a line of the file');
  expect(readChat(service.model.requests[13]!).at(-1)).toContain('a line of the file');
  chat.close();
});

it('compacts and asks once more when the provider says that the context is too long', async () => {
  const chat = await service.api.openChat();
  await talk(chat, 8, 1000);
  service.model.play(OVERFLOW, say('It fits now.'));
  service.model.summaries = [say('THE SUMMARY')];
  const idle = await chat.run('One more.');
  expect(idle.payload['stop_reason']).toEqual({ type: 'end_turn' });
  expect(service.model.requests).toHaveLength(2);
  const [before, after] = service.model.requests.map((request) => readChat(request).join('').length);
  expect(after!).toBeLessThan(before! / 2);
  expect(await compactions(chat)).toHaveLength(1);

  await talk(chat, 4, 1000);
  service.model.play(OVERFLOW, OVERFLOW, OVERFLOW);
  const failed = await chat.run('And more.');
  expect(failed.payload['stop_reason']).toMatchObject({ type: 'error', message: expect.stringContaining('context') });
  expect(service.model.requests).toHaveLength(2);
  expect(await compactions(chat)).toHaveLength(2);
  chat.close();
});

it('does without the model where it fails to sum up, and leaves it alone for a while', async () => {
  const chat = await service.api.openChat();
  await talk(chat, 8, 24_000);
  service.model.play(say('Go on.', tokens(3000)));
  service.model.summaries = [{ status: 401 }];
  await chat.run('First time.');
  expect(service.model.summarized).toHaveLength(1);
  expect(readChat(service.model.requests[0]!)[3]).toMatch(/What the user asked[\s\S]*Question 2\./);
  expect(await compactions(chat)).toHaveLength(1);

  await talk(chat, 8, 24_000);
  service.model.play(say('Go on.', tokens(3000)));
  await chat.run('Second time.');
  expect(service.model.summarized).toHaveLength(0);
  expect(await compactions(chat)).toHaveLength(2);
  chat.close();
});

it('stops compacting when it no longer helps', async () => {
  const chat = await service.api.openChat();
  await talk(chat, 3, 24_000);
  let passes = 0;
  for (let number = 0; number < 7; number += 1) {
    // A summary as long as the text it replaces, in a conversation that always counts as large.
    service.model.play(say('Short.', tokens(24_000)));
    service.model.summaries = [say('Very long. '.repeat(3000))];
    await chat.run(`Short? ${STORY}`);
    passes += service.model.summarized.length;
  }
  expect(passes).toBe(3);

  chat.close();
});

it('an interrupt ends the turn while its conversation is being summed up, and the next one begins anew', async () => {
  const chat = await service.api.openChat();
  await talk(chat, 8, 24_000);
  const asked = Promise.withResolvers<void>();
  service.model.play(say('Here.', tokens(3000)));
  service.model.summaries = [
    () => {
      asked.resolve();
      return { hang: 'before-headers' };
    },
  ];
  await chat.prompt('Now?');
  await asked.promise;
  await chat.send(interrupt());
  expect((await chat.next('session.status_idle')).payload).toMatchObject({ interrupted: true });
  expect(service.model.requests).toHaveLength(0);
  expect(await compactions(chat)).toHaveLength(0);
  await chat.run('And now?');
  expect(await compactions(chat)).toHaveLength(1);
  chat.close();
});

it('script/demo is summed up, too, once enough was said', async () => {
  const chat = await service.api.openChat(await service.api.createAgent({ modelName: 'script/demo' }));
  const long = { type: 'text', text: 'a long story '.repeat(1500) };
  let idle = await chat.run('Hello.');
  for (let number = 0; number < 4; number += 1) {
    await chat.send({ type: 'user.message', content: [long, long, long] });
    idle = await chat.next('session.status_idle');
  }
  expect(await compactions(chat)).toHaveLength(1);
  expect(idle.usage?.context_used).toBeLessThan(64_000);
  chat.close();
});
