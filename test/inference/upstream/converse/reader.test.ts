import { describe, expect, it } from 'vitest';
import { readWire } from '../../../support/upstream.ts';

const FORMAT = 'converse';
const event = (name: string, value: object) => ({ event: name, data: JSON.stringify(value) });
const delta = (contentBlockIndex: number, value: object) =>
  event('contentBlockDelta', { contentBlockIndex, delta: value, p: 'abc' });
const start = event('messageStart', { role: 'assistant' });
const stop = (stopReason: string, more: object = {}) => event('messageStop', { stopReason, ...more });
const usage = { inputTokens: 5, outputTokens: 7, totalTokens: 15, cacheReadInputTokens: 2, cacheWriteInputTokens: 1 };

describe('a Converse reply', () => {
  it('has reasoning with its signature, text and calls', async () => {
    const reply = await readWire(FORMAT, [
      start,
      delta(0, { reasoningContent: { text: 'h' } }),
      delta(0, { reasoningContent: { text: 'm' } }),
      delta(0, { reasoningContent: { signature: 'c2ln' } }),
      event('contentBlockStop', { contentBlockIndex: 0 }),
      delta(1, { text: 'Look:' }),
      event('contentBlockStop', { contentBlockIndex: 1 }),
      event('contentBlockStart', { contentBlockIndex: 2, start: { toolUse: { toolUseId: 't1', name: 'weather' } } }),
      delta(2, { toolUse: { input: '{"city":' } }),
      delta(2, { toolUse: { input: '"Ulm"}' } }),
      event('contentBlockStart', { contentBlockIndex: 3, start: { toolUse: { toolUseId: 't1', name: 'now' } } }),
      stop('tool_use'),
      event('metadata', { usage, metrics: { latencyMs: 3 } }),
    ]);
    expect(reply).toMatchObject({
      content: [
        { type: 'reasoning', text: 'hm', signature: 'c2ln', issuer: 'acme/small' },
        { type: 'text', text: 'Look:' },
        { type: 'tool_call', id: 't1', name: 'weather', arguments: '{"city":"Ulm"}' },
        { type: 'tool_call', id: expect.stringMatching(/^cal_/), name: 'now', arguments: '{}' },
      ],
      finish: 'tool_calls',
      usage: { input: 8, output: 7, cacheRead: 2, cacheWrite: 1, reasoning: 0 },
    });
  });

  it.each([
    ['end_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['content_filtered', 'content_filter'],
    ['guardrail_intervened', 'content_filter'],
    ['something_new', 'stop'],
  ])('ends with %s: %s', async (reason, finish) => {
    expect((await readWire(FORMAT, [start, delta(0, { text: 'a' }), stop(reason)])).finish).toBe(finish);
  });

  it('names the stop sequence where the model tells it', async () => {
    const more = { additionalModelResponseFields: { stop_sequence: 'END' } };
    expect((await readWire(FORMAT, [start, stop('stop_sequence', more)])).stopSequence).toBe('END');
  });

  it.each([
    ['is cut off', [start, delta(0, { text: 'a' })], 'upstream'],
    ['is malformed', [start, stop('malformed_tool_use')], 'upstream'],
    ['is throttled midway', [start, event('throttlingException', { message: 'x' })], 'rate_limited'],
    ['is overloaded', [event('serviceUnavailableException', { message: 'x' })], 'unavailable'],
    ['is refused', [event('validationException', { message: 'Input is too long.' })], 'context_overflow'],
    ['fails', [start, event('modelStreamErrorException', { message: 'x' })], 'upstream'],
    ['has a call without a name', [event('contentBlockStart', { start: { toolUse: {} } })], 'upstream'],
  ])('fails if it %s', async (_, events, code) => {
    await expect(readWire(FORMAT, events)).rejects.toMatchObject({ code });
  });
});
