import { describe, expect, it } from 'vitest';
import type { Wire } from '../../../support/model-server/pieces.ts';
import { callIdsOf, callsOf, readWire } from '../../../support/upstream.ts';

const chunk = (delta: Wire, finish_reason: string | null = null): Wire => ({
  id: 'x',
  choices: [{ index: 0, delta, finish_reason }],
});
const call = (fields: Wire, name?: string, args?: unknown): Wire => ({
  ...fields,
  function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
});
const LEGAL = /^[a-zA-Z0-9_-]{1,40}$/;

/** The reply to chunks with these lists of tool call deltas. */
async function readCalls(chunks: Wire[][], finish = 'tool_calls') {
  const events = [...chunks.map((calls) => chunk({ tool_calls: calls })), chunk({}, finish)];
  const reply = await readWire('chat-completions', [...events, '[DONE]']);
  const ids = callIdsOf(reply.content);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(LEGAL);
  return { calls: callsOf(reply.content), ids, reply };
}

describe('tool calls of a chat-completions stream', () => {
  it('joins arguments by index, also when two calls come mixed', async () => {
    const { calls, ids } = await readCalls([
      [call({ index: 0, id: 'a' }, 'one', '')],
      [call({ index: 1, id: 'b' }, 'two', '{')],
      [call({ index: 0 }, undefined, '{"x":1}')],
      [call({ index: 1 }, undefined, '}')],
    ]);
    expect(calls).toEqual([
      ['one', '{"x":1}'],
      ['two', '{}'],
    ]);
    expect(ids).toEqual(['a', 'b']);
  });

  it('tells calls apart by id when the index is always 0', async () => {
    const { calls, ids } = await readCalls([
      [call({ index: 0, id: 'a' }, 'one', '{"x":1}')],
      [call({ index: 0, id: 'b' }, 'one', '{"x":2}')],
    ]);
    expect(calls).toEqual([
      ['one', '{"x":1}'],
      ['one', '{"x":2}'],
    ]);
    expect(ids).toEqual(['a', 'b']);
  });

  it('tells calls apart when the index is missing', async () => {
    const { calls } = await readCalls([
      [call({ id: 'a' }, 'one', '{"x":')],
      [call({}, undefined, '1}')],
      [call({ id: 'b' }, 'two', '{}')],
    ]);
    expect(calls).toEqual([
      ['one', '{"x":1}'],
      ['two', '{}'],
    ]);
  });

  it('makes ids where they are blank or absent, several calls in one chunk', async () => {
    const { calls } = await readCalls([
      [call({ id: '' }, 'one', '{}'), call({}, 'one', '{"x":1}'), call({}, 'two', '{}')],
    ]);
    expect(calls).toEqual([
      ['one', '{}'],
      ['one', '{"x":1}'],
      ['two', '{}'],
    ]);
  });

  it('makes a new id where two calls share one', async () => {
    const { calls, ids } = await readCalls([
      [call({ index: 0, id: 'a' }, 'one', '{}')],
      [call({ index: 1, id: 'a' }, 'two', '{}')],
    ]);
    expect(calls.map(([name]) => name)).toEqual(['one', 'two']);
    expect(ids[0]).toBe('a');
  });

  it('continues the call if id and name are repeated in every chunk', async () => {
    const { calls } = await readCalls([
      [call({ index: 0, id: 'a' }, 'one', '{"x"')],
      [call({ index: 0, id: 'a' }, 'one', ':1')],
      [call({ index: 0, id: 'a' }, 'one', '}')],
    ]);
    expect(calls).toEqual([['one', '{"x":1}']]);
  });

  it('continues the call if the name is "" in every further chunk', async () => {
    const { calls } = await readCalls([
      [call({ index: 0, id: 'a' }, 'one', '')],
      [call({ index: 0, id: '' }, '', '{"x"')],
      [call({ index: 0, id: '' }, '', ':1}')],
    ]);
    expect(calls).toEqual([['one', '{"x":1}']]);
  });

  it('continues the call if every chunk has another id and no name', async () => {
    const { calls } = await readCalls([
      [call({ index: 0, id: 'a' }, 'one', '{"x"')],
      [call({ index: 0, id: 'b' }, undefined, ':1}')],
    ]);
    expect(calls).toEqual([['one', '{"x":1}']]);
  });

  it('begins another call when an index comes again with another name', async () => {
    const { calls } = await readCalls([[call({ index: 0 }, 'one', '{}')], [call({ index: 0 }, 'two', '{"y":2}')]]);
    expect(calls).toEqual([
      ['one', '{}'],
      ['two', '{"y":2}'],
    ]);
  });

  it('waits for a name that comes after the id and the first arguments', async () => {
    const { calls, ids } = await readCalls([
      [call({ index: 0, id: 'a' }, undefined, '{"x"')],
      [call({ index: 0 }, 'one', ':1}')],
    ]);
    expect(calls).toEqual([['one', '{"x":1}']]);
    expect(ids).toEqual(['a']);
  });

  it('refuses a call that never gets a name', async () => {
    await expect(readCalls([[call({ index: 0, id: 'a' }, '', '{}')]])).rejects.toMatchObject({ code: 'upstream' });
  });

  it('takes arguments that are an object', async () => {
    const { calls } = await readCalls([[call({ index: 0, id: 'a' }, 'one', { x: 1 })]]);
    expect(calls).toEqual([['one', '{"x":1}']]);
  });

  it.each([
    ['""', ''],
    ['null', null],
    ['absent', undefined],
  ])('makes {} of arguments that are %s', async (_, args) => {
    const { calls } = await readCalls([[call({ index: 0, id: 'a' }, 'one', args)]]);
    expect(calls).toEqual([['one', '{}']]);
  });

  it('ignores a trailing delta that says nothing', async () => {
    const { calls } = await readCalls([[call({ index: 0, id: 'a' }, 'one', '{}')], [{ index: 1 }, {}]]);
    expect(calls).toEqual([['one', '{}']]);
  });

  it('keeps text and calls of one delta, and text behind calls', async () => {
    const reply = await readWire('chat-completions', [
      chunk({ content: 'Let me look.', tool_calls: [call({ index: 0, id: 'a' }, 'one', '{}')] }),
      chunk({ content: 'Done.' }),
      chunk({}, 'tool_calls'),
    ]);
    expect(reply.content).toEqual([
      { type: 'text', text: 'Let me look.' },
      { type: 'tool_call', id: 'a', name: 'one', arguments: '{}' },
      { type: 'text', text: 'Done.' },
    ]);
  });

  it('finishes with tool_calls though the upstream says stop', async () => {
    const { reply } = await readCalls([[call({ index: 0, id: 'a' }, 'one', '{}')]], 'stop');
    expect(reply.finish).toBe('tool_calls');
  });

  it('finishes with stop though the upstream says tool_calls and made none', async () => {
    const { reply } = await readCalls([], 'tool_calls');
    expect(reply.finish).toBe('stop');
  });

  it('keeps length as the reason when a call was cut short', async () => {
    const { reply } = await readCalls([[call({ index: 0, id: 'a' }, 'one', '{"x')]], 'length');
    expect(reply.finish).toBe('length');
  });

  it('reads the call of the old function_call field', async () => {
    const reply = await readWire('chat-completions', [
      chunk({ function_call: { name: 'one', arguments: '' } }),
      chunk({ function_call: { arguments: '{"x":1}' } }),
      chunk({}, 'function_call'),
    ]);
    expect(callsOf(reply.content)).toEqual([['one', '{"x":1}']]);
  });
});
