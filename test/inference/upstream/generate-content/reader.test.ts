import { describe, expect, it } from 'vitest';
import { readBody, readWire } from '../../../support/upstream.ts';

const FORMAT = 'generate-content';
const chunk = (parts: object[], finishReason?: string, more: object = {}) => ({
  candidates: [
    { content: { role: 'model', parts }, index: 0, ...(finishReason === undefined ? {} : { finishReason }) },
  ],
  responseId: 'r1',
  ...more,
});
const call = (city: string, more: object = {}) => ({ functionCall: { name: 'weather', args: { city } }, ...more });

describe('a generateContent reply', () => {
  it('has thoughts, text and calls without ids; each signature names its part', async () => {
    const reply = await readWire(FORMAT, [
      chunk([{ text: 'I think ', thought: true }]),
      chunk([{ text: 'of Ulm.', thought: true }]),
      chunk([{ text: 'Let me ' }]),
      chunk([{ text: 'see.' }, { text: '', thoughtSignature: 'T1' }]),
      chunk([call('Ulm', { thoughtSignature: 'C1' }), call('Bonn')]),
      chunk([call('Köln')], 'STOP'),
    ]);
    const issuer = 'acme/small';
    expect(reply.content).toEqual([
      { type: 'reasoning', text: 'I think of Ulm.' },
      { type: 'text', text: 'Let me see.' },
      { type: 'reasoning', text: '', signature: 'text:T1', issuer },
      { type: 'reasoning', text: '', signature: 'call-0:C1', issuer },
      { type: 'tool_call', id: expect.stringMatching(/^cal_/), name: 'weather', arguments: '{"city":"Ulm"}' },
      { type: 'tool_call', id: expect.stringMatching(/^cal_/), name: 'weather', arguments: '{"city":"Bonn"}' },
      { type: 'tool_call', id: expect.stringMatching(/^cal_/), name: 'weather', arguments: '{"city":"Köln"}' },
    ]);
    expect([reply.id, reply.finish]).toEqual(['r1', 'tool_calls']);
    const ids = reply.content.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []));
    expect(new Set(ids).size).toBe(3);
  });

  it('signs the open thought with the signature of the call after it', async () => {
    const { content } = await readWire(FORMAT, [
      chunk([{ text: 'hm', thought: true }]),
      chunk([call('Ulm', { thoughtSignature: 'C1' })], 'STOP'),
    ]);
    expect(content[0]).toEqual({ type: 'reasoning', text: 'hm', signature: 'call-0:C1', issuer: 'acme/small' });
  });

  it('counts thoughts as output, and cached tokens as input; the last count holds', async () => {
    const usage = (candidatesTokenCount: number) => ({
      usageMetadata: {
        promptTokenCount: 100,
        cachedContentTokenCount: 60,
        candidatesTokenCount,
        thoughtsTokenCount: 7,
        toolUsePromptTokenCount: 5,
      },
    });
    const reply = await readWire(FORMAT, [chunk([{ text: 'a' }], undefined, usage(1)), chunk([], 'STOP', usage(3))]);
    expect(reply.usage).toEqual({ input: 105, output: 10, cacheRead: 60, cacheWrite: 0, reasoning: 7 });
  });

  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['SOMETHING_NEW', 'stop'],
  ])('ends with %s: %s', async (reason, finish) => {
    expect((await readWire(FORMAT, [chunk([{ text: 'a' }], reason)])).finish).toBe(finish);
  });

  it('of a blocked prompt ends with content_filter', async () => {
    const reply = await readWire(FORMAT, [{ promptFeedback: { blockReason: 'SAFETY' }, responseId: 'r' }]);
    expect([reply.finish, reply.content]).toEqual(['content_filter', []]);
  });

  it('may come as one list of chunks', async () => {
    const body = JSON.stringify([chunk([{ text: 'a' }]), chunk([{ text: 'b' }], 'STOP')]);
    expect((await readBody(FORMAT, body)).content).toEqual([{ type: 'text', text: 'ab' }]);
  });

  it.each([
    ['is cut off', [chunk([{ text: 'a' }])], 'upstream'],
    ['has a malformed call', [chunk([], 'MALFORMED_FUNCTION_CALL')], 'upstream'],
    ['has a call without a name', [chunk([{ functionCall: { args: {} } }])], 'upstream'],
    ['is overloaded midway', [chunk([{ text: 'a' }]), { error: { code: 503, status: 'UNAVAILABLE' } }], 'unavailable'],
    ['is no chunk at all', [{ hello: 1 }], 'upstream'],
    ['has broken parts', [{ candidates: [{ content: { parts: [5, null, 'x'] } }] }], 'upstream'],
  ])('fails if it %s', async (_, events, code) => {
    await expect(readWire(FORMAT, events)).rejects.toMatchObject({ code });
  });
});
