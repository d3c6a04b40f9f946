import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowAll, clarifyResult } from '../support/chat.ts';
import { callTool, callTools, readChat, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

it.each([
  { given: ['Red', { label: 'Blue' }], choices: ['Red', 'Blue'], answer: 'Blue' },
  { given: undefined, choices: null, answer: 'Green, please' },
  { given: [], choices: null, answer: '' },
])('a question with the choices $choices is put to the user and answered with "$answer"', async (example) => {
  service.model.play(callTool('clarify', { question: 'Which colour?', choices: example.given }), say('fine'));
  const chat = await service.api.openChat();
  await chat.prompt('Paint it.');
  const request = await chat.next('agent.clarify_request');
  expect(request.payload).toEqual({
    type: 'agent.clarify_request',
    id: request.id,
    request_id: request.id,
    question: 'Which colour?',
    choices: example.choices,
  });
  const pause = await chat.next('session.status_idle');
  expect(pause.payload['stop_reason']).toEqual({ type: 'requires_action', event_ids: [request.id] });
  expect(await chat.session()).toMatchObject({
    status: 'waiting_on_human',
    pendingActions: [{ eventId: request.id, type: 'agent.clarify_request' }],
  });
  expect((await chat.send(clarifyResult(request.id, example.answer))).status).toBe(200);
  expect((await chat.next('session.status_idle')).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  expect(readChat(service.model.requests[1]!).at(-1)).toContain(`"user_response":${JSON.stringify(example.answer)}`);
  expect((await chat.send(clarifyResult(request.id, 'again'))).status).toBe(410);
  chat.close();
});

it('a call behind a question runs only after the answer', async () => {
  const reply = callTools([
    ['write_file', { path: 'table.txt', content: 'x' }],
    ['clarify', { question: 'Delete it?', choices: ['yes', 'no'] }],
    ['terminal', { command: 'rm table.txt' }],
  ]);
  service.model.play(reply, say('fine'));
  const chat = await service.api.openChat(await service.api.createAgent({ tools: allowAll }));
  await chat.prompt('Clean up.');
  const request = await chat.next('agent.clarify_request');
  await chat.next('session.status_idle');
  const uses = async () => {
    const events = await chat.list();
    return events.flatMap(({ type, payload }) => (type === 'agent.tool_use' ? [payload['name']] : []));
  };
  expect(await uses()).toEqual(['write_file']);
  await chat.send(clarifyResult(request.id, 'yes'));
  expect((await chat.next('session.status_idle')).payload).toMatchObject({ stop_reason: { type: 'end_turn' } });
  expect(await uses()).toEqual(['write_file', 'terminal']);
  chat.close();
});
