import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ModelReply } from '../../src/inference/model.ts';
import { interrupt } from '../support/chat.ts';
import { encodeStream } from '../support/model-server/encode.ts';
import { completeReply } from '../support/model-server/pieces.ts';
import { say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  // the one format that reports input usage at the start of a reply
  service = await startService({ format: 'messages' });
});
afterAll(() => service.close());

const USAGE = { input: 1200, output: 1, cacheRead: 200, cacheWrite: 0, reasoning: 0 };

/** Starts a reply that never ends; its output usage would come at the end. */
function begin(text: string) {
  const reply: ModelReply = completeReply({ content: [{ type: 'text', text }], usage: USAGE });
  return encodeStream('messages', reply, 10).slice(0, -3);
}

it('counts the usage that an interrupted call has reported so far', async () => {
  service.model.play({ events: begin('I will tell you a long story.'), hang: 'after-body' }, say('Sorry.'));
  const chat = await service.api.openChat();
  await chat.prompt('Go.');
  await chat.next('agent.message');
  await chat.send(interrupt());
  const idle = await chat.next('session.status_idle');
  expect(idle.payload).toMatchObject({ interrupted: true });
  expect(idle.usage).toMatchObject({
    model: 'acme/small',
    calls: 1,
    input: 1200,
    cache_read: 200,
    cost_status: 'estimated',
  });
  // 1,000 tokens at 1 dollar per million, 200 cached ones at 0.1, at least one of output at 10
  expect(idle.usage?.cost_usd).toBeGreaterThanOrEqual(0.00103);
  expect(idle.usage).not.toHaveProperty('context_used');
  const after = await chat.run('Well?');
  expect((await chat.session()).usage).toMatchObject({
    calls: 2,
    input: 1200 + (after.usage?.input ?? NaN),
    context_used: after.usage?.context_used,
  });
  chat.close();
});

it('counts a call that broke off, beside the one that took its place', async () => {
  const text = 'Once upon a time there was a long story.';
  const more = { content: [{ type: 'text' as const, text }], usage: { ...USAGE, output: 50 } };
  service.model.play({ events: begin(text) }, { reply: more });
  const chat = await service.api.openChat();
  const idle = await chat.run('Go.');
  expect(idle.payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  expect(service.model.requests).toHaveLength(2);
  expect(idle.usage).toMatchObject({ calls: 2, input: 2400, context_used: 1250 });
  chat.close();
});
