import { expect, it } from 'vitest';
import { pairCalls } from '../../../src/gateway/dialects/history.ts';
import type { ModelMessage } from '../../../src/inference/model.ts';

const call = (id: string) => ({ type: 'tool_call', id, name: 'weather', arguments: '{}' }) as const;
const calls = (...ids: string[]): ModelMessage => ({ role: 'assistant', content: ids.map(call) });
const result = (callId: string): ModelMessage => ({ role: 'tool', results: [{ callId, content: [], isError: false }] });
const note: ModelMessage = { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] };
const user: ModelMessage = { role: 'user', content: [{ type: 'text', text: 'Hi' }] };

it('moves a system message behind the results, and joins the results of one turn', () => {
  const paired = pairCalls([user, calls('a', 'b'), result('b'), note, result('a'), user], 'messages');
  expect(paired.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'system', 'user']);
  expect(paired[2]).toMatchObject({ results: [{ callId: 'b' }, { callId: 'a' }] });
});

it.each([
  ['a result without a call', [user, result('a')], 'messages: the result of a has no tool call before it'],
  ['a second result', [calls('a'), result('a'), result('a')], 'has no tool call before it'],
  ['a call without a result at the end', [calls('a')], 'messages: the tool call a has no result after it'],
  ['a user message before the results', [calls('a', 'b'), result('a'), user], 'the tool call b has no result'],
])('rejects %s', (_name, messages, reason) => {
  expect(() => pairCalls(messages, 'messages')).toThrow(reason);
});
