import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowAll, textOf, typesOf } from '../support/chat.ts';
import { goalOf, hold, isStatement, readStatement } from '../support/goals.ts';
import { JUDGE_USAGE, callTool, judge, readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

it('continues turn by turn in the same session until the judge reports that the goal is reached', async () => {
  const usage = { input: 10, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  service.model.play(say('One.', { usage }), say('Two.', { usage }), say('Three.', { usage }));
  service.model.verdicts = [
    judge('continue', 'Two is missing.'),
    judge('continue', 'Three is missing.'),
    judge('done', 'All three are there.'),
  ];
  const chat = await service.api.openChat();
  await chat.prompt('/goal Count to three.');
  expect(await readStatement(chat)).toBe('The goal is reached. All three are there.');
  expect(typesOf(await chat.list())).toEqual([
    'user.message',
    ...Array.from({ length: 3 }, () => ['session.status_running', 'agent.message', 'session.status_idle']).flat(),
    'agent.message',
    'session.status_idle',
  ]);
  expect(await chat.session()).toMatchObject({
    status: 'idle',
    queuedCount: 0,
    goal: {
      objective: 'Count to three.',
      status: 'done',
      turnsUsed: 3,
      maxTurns: 20,
      reason: 'All three are there.',
    },
    // three turns and three verdicts
    usage: { calls: 6, input: 30 + 3 * JUDGE_USAGE.input, output: 3 + 3 * JUDGE_USAGE.output },
  });
  expect(Object.keys((await chat.session()).goal!)).toHaveLength(5);

  // One conversation: the same instructions and tools, and a growing prefix.
  const [first, second, third] = service.model.requests.map(({ body }) => body);
  expect(third?.['tools']).toEqual(first?.['tools']);
  expect(JSON.stringify(third?.['messages']).startsWith(JSON.stringify(second?.['messages']).slice(0, -1))).toBe(true);
  const read = readChat(service.model.requests[2]!);
  expect(read[1]).toMatch(/^user: Count to three\.\n/);
  expect(read[3]).toContain('Two is missing.');
  expect(read.join('\n')).not.toContain('The goal is reached');
  chat.close();
});

it('asks the judge with temperature 0, for the goal and the last reply, both cut', async () => {
  service.model.play(callTool('todo', {}, 'Let me see.'), say(`Done.${'y'.repeat(6000)}`));
  const chat = await service.api.openChat();
  await chat.prompt(`/goal ${'x'.repeat(3000)}`);
  await readStatement(chat);
  const [request] = service.model.judged;
  expect(request?.body).toMatchObject({ temperature: 0 });
  expect(request?.body['tools']).toBeUndefined();
  const asked = readChat(request!)[1]!;
  expect(asked).not.toContain('Let me see.');
  expect(asked.match(/x/g)).toHaveLength(1999);
  expect(asked.match(/y{100,}/)![0]).toHaveLength(4000 - 'Done.'.length - 1);
  chat.close();
});

it('pauses a blocked goal with the reason; resume resets the budget and continues', async () => {
  service.model.play(say('I need the password.'), say('Thank you. It is done.'));
  service.model.verdicts = [judge('blocked', 'The password is missing.')];
  const chat = await service.api.openChat();
  await chat.prompt('/goal Log in.');
  expect(await readStatement(chat)).toContain('The password is missing.');
  expect(await goalOf(chat)).toMatchObject({ status: 'paused', turnsUsed: 1, reason: 'The password is missing.' });

  const resumed = await chat.prompt('/goal resume');
  expect(resumed).toMatchObject({ status: 200, body: { data: [{ status: 'processed', turnId: null }] } });
  expect(textOf(await chat.next(isStatement))).toContain('Log in.');
  expect(await readStatement(chat)).toContain('The goal is reached.');
  expect(await goalOf(chat)).toMatchObject({ status: 'done', turnsUsed: 1 });
  expect(service.model.requests).toHaveLength(2);
  expect(readChat(service.model.requests[1]!).at(-1)).toContain('Go on with the goal');
  chat.close();
});

it('pauses when the budget of 20 turns is spent', async () => {
  service.model.play();
  service.model.verdicts = Array.from({ length: 25 }, () => judge('continue', 'More.'));
  const chat = await service.api.openChat();
  await chat.prompt('/goal Never enough.');
  for (let turn = 0; turn < 20; turn += 1) await chat.next('session.status_idle');
  expect(await readStatement(chat)).toContain('20 turns');
  expect(service.model.requests).toHaveLength(20);
  expect(await goalOf(chat)).toMatchObject({ status: 'paused', turnsUsed: 20 });
  chat.close();
});

it('continues after unreadable verdicts and pauses at the third in a row', async () => {
  service.model.play();
  service.model.verdicts = [say('Well…'), judge('continue', 'No.'), say('{}'), say('[]'), say('Yes, done!')];
  const chat = await service.api.openChat();
  await chat.prompt('/goal Be clear.');
  expect(await readStatement(chat)).toContain('could not be read');
  expect(service.model.judged).toHaveLength(5);
  expect(await goalOf(chat)).toMatchObject({ status: 'paused', turnsUsed: 5 });
  chat.close();
});

it('continues if the judge is unavailable and pauses at the fifth time in a row', async () => {
  service.model.play();
  service.model.verdicts = Array.from({ length: 5 }, () => ({ status: 401 }));
  const chat = await service.api.openChat();
  await chat.prompt('/goal Trust me.');
  expect(await readStatement(chat)).toContain('Nobody could be asked');
  expect(service.model.requests).toHaveLength(5);
  expect(await goalOf(chat)).toMatchObject({ status: 'paused', turnsUsed: 5 });
  chat.close();
});

it('pauses when a turn fails, without asking the judge', async () => {
  service.model.play({ status: 401 });
  const chat = await service.api.openChat();
  await chat.prompt('/goal Try.');
  expect(await readStatement(chat)).toContain('The provider rejected its API key.');
  expect(service.model.judged).toHaveLength(0);
  expect(await goalOf(chat)).toMatchObject({ status: 'paused' });
  chat.close();
});

it('lets a prompt of the user go first, also one that comes while the judge thinks', async () => {
  const turn = hold('Working.');
  service.model.play(turn.answer, say('Four.'), say('Five.'));
  const asked = Promise.withResolvers<void>();
  const slow = () => {
    asked.resolve();
    return { hang: 'before-headers' as const };
  };
  service.model.verdicts = [slow, judge('done', 'Now.')];
  const chat = await service.api.openChat();
  await chat.prompt('/goal Work.');
  await service.model.request(0);
  // queued during the turn: it runs before the judge is called
  expect((await chat.prompt('What is 2 + 2?')).status).toBe(202);
  turn.open();
  await chat.next('session.status_idle');
  await chat.next('session.status_idle');
  expect(readChat(service.model.requests[1]!).at(-1)).toBe('user: What is 2 + 2?');
  // during the judge's call: the session is idle, and the prompt starts at once
  await asked.promise;
  expect((await chat.prompt('And 2 + 3?')).status).toBe(200);
  await service.model.request(2);
  expect(service.model.judged).toHaveLength(1);
  expect(await readStatement(chat)).toBe('The goal is reached. Now.');
  expect(service.model.requests).toHaveLength(3);
  expect(await goalOf(chat)).toMatchObject({ status: 'done', turnsUsed: 1 });
  chat.close();
});

it('script/demo works towards a goal, too', async () => {
  const agent = await service.api.createAgent({ modelName: 'script/demo', tools: allowAll });
  const chat = await service.api.openChat(agent);
  await chat.prompt('/goal run: echo one more >> log; wc -l < log\nuntil: 3');
  expect(await readStatement(chat)).toContain('The goal is reached.');
  expect(await goalOf(chat)).toMatchObject({ status: 'done', turnsUsed: 3 });
  chat.close();
});
