import { afterAll, beforeAll, expect, it } from 'vitest';
import type { EventEnvelope } from '../../src/contract/events.ts';
import type { Goal } from '../../src/contract/sessions.ts';
import { allowAll, customTool, interrupt, prompt, textOf, toolResult, typesOf } from '../support/chat.ts';
import type { Chat } from '../support/chat.ts';
import { JUDGE_USAGE, callTool, judge, readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** What the service itself says about a goal: it belongs to no turn. */
const isStatement = (event: EventEnvelope) => event.type === 'agent.message' && event.turnId === null;
const isEnd = (event: EventEnvelope) => event.type === 'session.status_idle' && event.turnId === null;

/** Waits for what the service says about the goal, and for the idle event after it. */
async function statement(chat: Chat): Promise<string> {
  const said = await chat.next(isStatement);
  await chat.next(isEnd);
  return textOf(said);
}

async function goalOf(chat: Chat): Promise<Goal> {
  return (await chat.session()).goal!;
}

function hold(text: string) {
  const gate = Promise.withResolvers<void>();
  const answer = async () => {
    await gate.promise;
    return say(text);
  };
  return { answer, open: () => gate.resolve() };
}

it('goes on turn by turn in the same session until the judge says that the goal is reached', async () => {
  const usage = { input: 10, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  service.model.play(say('One.', { usage }), say('Two.', { usage }), say('Three.', { usage }));
  service.model.verdicts = [
    judge('continue', 'Two is missing.'),
    judge('continue', 'Three is missing.'),
    judge('done', 'All three are there.'),
  ];
  const chat = await service.api.openChat();
  await chat.prompt('/goal Count to three.');
  expect(await statement(chat)).toBe('The goal is reached. All three are there.');
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
    // three turns and three judgements
    usage: { calls: 6, input: 30 + 3 * JUDGE_USAGE.input, output: 3 + 3 * JUDGE_USAGE.output },
  });
  expect(Object.keys((await chat.session()).goal!)).toHaveLength(5);

  // One conversation: the same instructions and tools, a prefix that only grows.
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
  await statement(chat);
  const [request] = service.model.judged;
  expect(request?.body).toMatchObject({ temperature: 0 });
  expect(request?.body['tools']).toBeUndefined();
  const asked = readChat(request!)[1]!;
  expect(asked).not.toContain('Let me see.');
  expect(asked.match(/x/g)).toHaveLength(1999);
  expect(asked.match(/y{100,}/)![0]).toHaveLength(4000 - 'Done.'.length - 1);
  chat.close();
});

it('pauses what is blocked and says why; resume resets the budget and goes on', async () => {
  service.model.play(say('I need the password.'), say('Thank you. It is done.'));
  service.model.verdicts = [judge('blocked', 'The password is missing.')];
  const chat = await service.api.openChat();
  await chat.prompt('/goal Log in.');
  expect(await statement(chat)).toContain('The password is missing.');
  expect(await goalOf(chat)).toMatchObject({ status: 'paused', turnsUsed: 1, reason: 'The password is missing.' });

  const resumed = await chat.prompt('/goal resume');
  expect(resumed).toMatchObject({ status: 200, body: { data: [{ status: 'processed', turnId: null }] } });
  expect(textOf(await chat.next(isStatement))).toContain('Log in.');
  expect(await statement(chat)).toContain('The goal is reached.');
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
  expect(await statement(chat)).toContain('20 turns');
  expect(service.model.requests).toHaveLength(20);
  expect(await goalOf(chat)).toMatchObject({ status: 'paused', turnsUsed: 20 });
  chat.close();
});

it('goes on after verdicts that cannot be read and pauses at the third in a row', async () => {
  service.model.play();
  service.model.verdicts = [say('Well…'), judge('continue', 'No.'), say('{}'), say('[]'), say('Yes, done!')];
  const chat = await service.api.openChat();
  await chat.prompt('/goal Be clear.');
  expect(await statement(chat)).toContain('could not be read');
  expect(service.model.judged).toHaveLength(5);
  expect(await goalOf(chat)).toMatchObject({ status: 'paused', turnsUsed: 5 });
  chat.close();
});

it('goes on where the judge cannot be asked and pauses at the fifth time in a row', async () => {
  service.model.play();
  service.model.verdicts = Array.from({ length: 5 }, () => ({ status: 401 }));
  const chat = await service.api.openChat();
  await chat.prompt('/goal Trust me.');
  expect(await statement(chat)).toContain('Nobody could be asked');
  expect(service.model.requests).toHaveLength(5);
  expect(await goalOf(chat)).toMatchObject({ status: 'paused', turnsUsed: 5 });
  chat.close();
});

it('pauses when a turn fails, without asking the judge', async () => {
  service.model.play({ status: 401 });
  const chat = await service.api.openChat();
  await chat.prompt('/goal Try.');
  expect(await statement(chat)).toContain('The provider refused its key.');
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
  // queued during the turn: it runs before anything is judged
  expect((await chat.prompt('What is 2 + 2?')).status).toBe(202);
  turn.open();
  await chat.next('session.status_idle');
  await chat.next('session.status_idle');
  expect(readChat(service.model.requests[1]!).at(-1)).toBe('user: What is 2 + 2?');
  // while the judge thinks: the session is idle, and the prompt starts at once
  await asked.promise;
  expect((await chat.prompt('And 2 + 3?')).status).toBe(200);
  await service.model.request(2);
  expect(service.model.judged).toHaveLength(1);
  expect(await statement(chat)).toBe('The goal is reached. Now.');
  expect(service.model.requests).toHaveLength(3);
  expect(await goalOf(chat)).toMatchObject({ status: 'done', turnsUsed: 1 });
  chat.close();
});

it('answers control phrases at once while a turn runs, without a model call and without an idle event', async () => {
  const turn = hold('Half of it.');
  service.model.play(turn.answer, say('The rest.'));
  const chat = await service.api.openChat();
  await chat.prompt('/goal Both halves.');
  await service.model.request(0);
  expect((await chat.prompt('/goal status')).status).toBe(200);
  expect(textOf(await chat.next(isStatement))).toBe('The goal is active, after 0 of 20 turns: Both halves.');
  expect((await chat.prompt('/goal pause')).status).toBe(200);
  expect(textOf(await chat.next(isStatement))).toContain('paused');
  expect(await chat.session()).toMatchObject({ status: 'running', queuedCount: 0, goal: { status: 'paused' } });
  expect(typesOf(await chat.list())).not.toContain('session.status_idle');
  turn.open();
  const idle = await chat.next('session.status_idle');
  expect(idle.turnId).not.toBeNull();
  // the loop rests: the next turn is an ordinary one
  await chat.run('Thanks.');
  expect(service.model.judged).toHaveLength(0);
  expect(readChat(service.model.requests[1]!).slice(2)).toEqual(['assistant: Half of it.', 'user: Thanks.']);
  chat.close();
});

it('takes up a goal that is resumed while a turn runs', async () => {
  const turn = hold('Nearly.');
  service.model.play(turn.answer, say('Ready.'));
  service.model.verdicts = [judge('continue', 'Not yet.'), judge('done', 'Yes.')];
  const chat = await service.api.openChat();
  await chat.prompt('/goal Be ready.');
  await service.model.request(0);
  await chat.prompt('/goal pause');
  await chat.prompt('/goal resume');
  turn.open();
  await chat.next((event) => event.type === 'agent.message' && textOf(event).includes('reached'));
  expect(await goalOf(chat)).toMatchObject({ status: 'done', turnsUsed: 2 });
  chat.close();
});

it('answers control phrases in a session at rest with a message and an idle event', async () => {
  service.model.play();
  const chat = await service.api.openChat();
  for (const phrase of ['status', 'pause', 'resume', 'clear', 'stop', 'done']) {
    expect((await chat.prompt(`/goal ${phrase}`)).status).toBe(200);
    expect(await statement(chat)).toContain('There is no goal.');
  }
  expect(service.model.requests).toHaveLength(0);
  expect(typesOf(await chat.list()).slice(0, 3)).toEqual(['user.message', 'agent.message', 'session.status_idle']);
  expect(await chat.session()).toMatchObject({ status: 'idle', goal: null });
  // what only looks like a phrase is a prompt
  const { body } = await chat.send(prompt('/goal status', { metadata: { from: 'app' } }));
  expect(body.data[0]?.turnId).not.toBeNull();
  await chat.next('session.status_idle');
  expect(await chat.session()).toMatchObject({ goal: null });
  chat.close();
});

it.each([
  ['clear', 'cleared'],
  ['stop', 'cleared'],
  ['done', 'done'],
])('/goal %s ends the goal: it is %s', async (phrase, status) => {
  service.model.play(say('?'));
  service.model.verdicts = [judge('blocked', 'What now?')];
  const chat = await service.api.openChat();
  await chat.prompt('/goal Something.');
  await statement(chat);
  await chat.prompt(`/goal ${phrase}`);
  await statement(chat);
  expect(await goalOf(chat)).toMatchObject({ status });
  await chat.prompt('/goal resume');
  expect(await statement(chat)).toMatch(/There is no goal|nothing to resume/);
  expect(service.model.requests).toHaveLength(1);
  chat.close();
});

it('an interrupt pauses the goal', async () => {
  const turn = hold('never said');
  service.model.play(turn.answer);
  const chat = await service.api.openChat();
  await chat.prompt('/goal Run for ever.');
  await service.model.request(0);
  await chat.send(interrupt());
  expect(textOf(await chat.next('agent.message'))).toContain('paused');
  expect((await chat.next('session.status_idle')).payload).toMatchObject({ interrupted: true });
  turn.open();
  expect(await goalOf(chat)).toMatchObject({ status: 'paused', reason: 'Interrupted by the user.' });
  await chat.prompt('/goal status');
  expect(await statement(chat)).toContain('paused');
  expect(service.model.judged).toHaveLength(0);
  chat.close();
});

it('a control phrase while a person is asked repeats what is asked', async () => {
  service.model.play(callTool('deploy', {}), say('Deployed.'));
  const chat = await service.api.openChat(
    await service.api.createAgent({ tools: [customTool('deploy', 'always_allow')] }),
  );
  await chat.prompt('/goal Deploy.');
  const use = await chat.next('agent.custom_tool_use');
  await chat.next('session.status_idle');
  await chat.prompt('/goal status');
  expect(textOf(await chat.next(isStatement))).toContain('active');
  expect((await chat.next('session.status_idle')).payload['stop_reason']).toEqual({
    type: 'requires_action',
    event_ids: [use.id],
  });
  await chat.send(toolResult(use.id, 'ok'));
  expect(await statement(chat)).toContain('reached');
  chat.close();
});

it('script/demo works towards a goal, too', async () => {
  const agent = await service.api.createAgent({ modelName: 'script/demo', tools: allowAll });
  const chat = await service.api.openChat(agent);
  await chat.prompt('/goal run: echo one more >> log; wc -l < log\nuntil: 3');
  expect(await statement(chat)).toContain('The goal is reached.');
  expect(await goalOf(chat)).toMatchObject({ status: 'done', turnsUsed: 3 });
  chat.close();
});
