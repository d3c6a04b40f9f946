import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowAll, steer, textOf, typesOf } from '../support/chat.ts';
import { buildGateTools } from '../support/gate-tools.ts';
import { callTool, callTools, readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

const gates = buildGateTools();
let service: Service;
beforeAll(async () => {
  service = await startService({ tools: gates.tools });
});
afterAll(() => service.close());

const openChat = async () => service.api.openChat(await service.api.createAgent({ tools: allowAll }));

/** A reply that is held until it is released. */
function hold(text: string) {
  const gate = Promise.withResolvers<void>();
  const answer = async () => {
    await gate.promise;
    return say(text);
  };
  return { answer, open: () => gate.resolve() };
}

it('guidance that comes while tools run stands behind the last result, inside the trusted mark', async () => {
  service.model.play(
    callTools([
      ['track', { key: 'a' }],
      ['hold', { key: 'steered' }],
    ]),
    callTool('track', { key: 'b' }),
    say('done'),
  );
  const chat = await openChat();
  await chat.prompt('Go.');
  await gates.held('steered');
  const sent = await chat.send(steer('Keep left.'), steer('And slow.'));
  expect(sent).toMatchObject({ status: 200, body: { data: [{ status: 'received' }, { status: 'received' }] } });
  gates.open('steered');
  await chat.next('session.status_idle');

  const conversation = readChat(service.model.requests[1]!);
  const [first, second] = conversation.slice(-2);
  const mark = /user-guidance ([0-9a-f]+)/.exec(second ?? '')?.[1];
  expect(first).toBe('tool: track a');
  expect(second).toBe(`tool: hold steered\n\n<user-guidance ${mark}>\nKeep left.\nAnd slow.\n</user-guidance ${mark}>`);
  expect(conversation[0]).toContain(`<user-guidance ${mark}>`);
  // it keeps its position, and appears once
  expect(readChat(service.model.requests[2]!).slice(0, conversation.length)).toEqual(conversation);
  expect(readChat(service.model.requests[2]!).join('\n').split('Keep left.')).toHaveLength(2);
  const events = await chat.list();
  const steers = events.filter((event) => event.type === 'user.steer');
  expect(steers.map(({ status }) => status)).toEqual(['processed', 'processed']);
  expect(typesOf(events).filter((type) => type === 'session.status_running')).toHaveLength(1);
  chat.close();
});

it('guidance that comes during the last model call opens the next turn', async () => {
  const last = hold('done');
  service.model.play(last.answer, say('Left it is.'));
  const chat = await openChat();
  await chat.prompt('Go.');
  await service.model.request(0);
  const sent = await chat.send(steer('Keep left.'));
  last.open();
  const first = await chat.next('session.status_idle');
  const second = await chat.next('session.status_idle');
  expect(second.turnId).not.toBe(first.turnId);
  expect(sent.body.data[0]?.turnId).toBe(first.turnId);
  expect(readChat(service.model.requests[1]!).slice(1)).toEqual(['user: Go.', 'assistant: done', 'user: Keep left.']);
  const events = await chat.list();
  expect(events.find((event) => event.type === 'user.steer')).toMatchObject({
    status: 'processed',
    turnId: first.turnId,
  });
  expect(events.filter((event) => event.type === 'agent.message').map(textOf)).toEqual(['done', 'Left it is.']);
  expect(service.model.requests).toHaveLength(2);
  chat.close();
});

it('late guidance is sent to the model with the queued prompt, and only then', async () => {
  const last = hold('done');
  service.model.play(last.answer, say('both'));
  const chat = await openChat();
  await chat.prompt('Go.');
  await service.model.request(0);
  await chat.prompt('Next.');
  await chat.send(steer('Keep left.'));
  last.open();
  await chat.next('session.status_idle');
  await chat.next('session.status_idle');
  expect(readChat(service.model.requests[1]!).at(-1)).toMatch(/^user: .*Keep left\..*Next\.$/s);
  await chat.run('Last.');
  expect(service.model.requests).toHaveLength(3);
  const events = await chat.list();
  expect(events.find((event) => event.type === 'user.steer')?.status).toBe('processed');
  chat.close();
});
