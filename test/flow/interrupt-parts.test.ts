import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AssistantPart } from '../../src/inference/model.ts';
import { interrupt, textOf } from '../support/chat.ts';
import { encodeStream } from '../support/model-server/encode.ts';
import { completeReply } from '../support/model-server/pieces.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ format: 'messages' });
});
afterAll(() => service.close());

it('a reply that is interrupted in its second text keeps both, each under the id that its deltas had', async () => {
  const content: AssistantPart[] = [
    { type: 'text', text: 'The first text.' },
    { type: 'tool_call', id: 'call_1', name: 'terminal', arguments: '{"command":"true"}' },
    { type: 'text', text: 'The second text.' },
  ];
  const events = encodeStream('messages', completeReply({ content }), 8).slice(0, -3);
  service.model.play({ events, hang: 'after-body' });
  const chat = await service.api.openChat();
  await chat.prompt('Go.');
  await chat.next((frame) => textOf(frame).includes('The seco'));
  await chat.send(interrupt());
  await chat.next('session.status_idle');
  const kept = (await chat.list()).filter((event) => event.type === 'agent.message');
  expect(kept.map(textOf)).toEqual(['The first text.', expect.stringMatching(/^The seco/)]);
  for (const message of kept) {
    const deltas = chat.frames.filter((frame) => frame.id === message.id && frame.payload['delta'] === true);
    expect(deltas.length).toBeGreaterThan(0);
    expect(textOf(message).startsWith(deltas.map(textOf).join(''))).toBe(true);
  }
  chat.close();
});
