import { afterAll, beforeAll, expect, it } from 'vitest';
import { customTool, interrupt, prompt, textOf, toolResult, typesOf } from '../support/chat.ts';
import { goalOf, hold, isStatement, readStatement } from '../support/goals.ts';
import { callTool, judge, readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

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
  // the loop is paused: the next turn is an ordinary one
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
    expect(await readStatement(chat)).toContain('There is no goal.');
  }
  expect(service.model.requests).toHaveLength(0);
  expect(typesOf(await chat.list()).slice(0, 3)).toEqual(['user.message', 'agent.message', 'session.status_idle']);
  expect(await chat.session()).toMatchObject({ status: 'idle', goal: null });
  // a text that only resembles a phrase is a prompt
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
  await readStatement(chat);
  await chat.prompt(`/goal ${phrase}`);
  await readStatement(chat);
  expect(await goalOf(chat)).toMatchObject({ status });
  await chat.prompt('/goal resume');
  expect(await readStatement(chat)).toMatch(/There is no goal|nothing to resume/);
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
  expect(await readStatement(chat)).toContain('paused');
  expect(service.model.judged).toHaveLength(0);
  chat.close();
});

it('a control phrase during a pending question repeats the question', async () => {
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
  expect(await readStatement(chat)).toContain('reached');
  chat.close();
});

it.each([
  ['clear', 'cleared'],
  ['pause', 'paused'],
])('a verdict does not undo /goal %s, sent while the judge thought', async (phrase, status) => {
  const chat = await service.api.openChat();
  service.model.play();
  service.model.verdicts = [
    async () => {
      await chat.prompt(`/goal ${phrase}`);
      return judge('continue', 'More.');
    },
  ];
  await chat.prompt('/goal Something.');
  await readStatement(chat);
  // an ordinary turn, so that any effect of the verdict would have come before it
  await chat.run('Thanks.');
  expect(service.model.requests).toHaveLength(2);
  expect(await goalOf(chat)).toMatchObject({ status });
  chat.close();
});

it('a verdict does not end a turn that a prompt started during the judge’s call', async () => {
  const chat = await service.api.openChat();
  service.model.play();
  service.model.verdicts = [
    async () => {
      await chat.prompt('Wait, one more thing.');
      return judge('done', 'Too early.');
    },
    judge('done', 'Now.'),
  ];
  await chat.prompt('/goal Something.');
  expect(await readStatement(chat)).toBe('The goal is reached. Now.');
  expect(service.model.requests).toHaveLength(2);
  chat.close();
});

it('a verdict does not bring a goal back that another has replaced while the judge thought', async () => {
  const chat = await service.api.openChat();
  service.model.play();
  service.model.verdicts = [
    async () => {
      await chat.prompt('/goal Another.');
      return judge('continue', 'More.');
    },
    judge('done', 'Now.'),
  ];
  await chat.prompt('/goal Something.');
  expect(await readStatement(chat)).toBe('The goal is reached. Now.');
  expect(await goalOf(chat)).toMatchObject({ objective: 'Another.', status: 'done', turnsUsed: 1 });
  chat.close();
});
