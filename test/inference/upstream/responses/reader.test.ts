import { describe, expect, it } from 'vitest';
import type { ModelDelta } from '../../../../src/inference/model.ts';
import { buildResponsesReader } from '../../../../src/inference/upstream/responses/reader.ts';
import type { Wire } from '../../../support/model-server/pieces.ts';
import { buildTarget, callIdsOf, readBody, readWire } from '../../../support/upstream.ts';

const CREATED = { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } };
const completed = (fields: Wire = {}) => ({
  type: 'response.completed',
  response: { id: 'r', status: 'completed', ...fields },
});
const added = (output_index: number, item: Wire) => ({ type: 'response.output_item.added', output_index, item });
const done = (output_index: number, item: Wire) => ({ type: 'response.output_item.done', output_index, item });
const CALL = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'now', arguments: '' };
const argumentsDelta = (delta: string, item_id = 'fc_1') => ({
  type: 'response.function_call_arguments.delta',
  output_index: 0,
  item_id,
  delta,
});
const textDelta = (delta: string, rest: Wire = {}) => ({
  type: 'response.output_text.delta',
  output_index: 0,
  content_index: 0,
  delta,
  ...rest,
});
const read = (...events: Wire[]) => readWire('responses', events);
const now = (args: string) => [{ type: 'tool_call', id: 'c1', name: 'now', arguments: args }];

describe('a responses stream', () => {
  it('joins argument deltas, which name the item and not the call', async () => {
    const reply = await read(CREATED, added(0, CALL), argumentsDelta('{"a"'), argumentsDelta(':1}'), completed());
    expect(reply).toMatchObject({ content: now('{"a":1}'), finish: 'tool_calls' });
  });

  it('goes by the position of an item when its id changes between events', async () => {
    const reply = await read(
      CREATED,
      added(0, CALL),
      argumentsDelta('{"a"', 'x'),
      argumentsDelta(':1}', 'y'),
      completed(),
    );
    expect(reply.content).toEqual(now('{"a":1}'));
  });

  it('goes by the id of an item when its position is missing', async () => {
    const { output_index: _, ...bare } = argumentsDelta('{}');
    const item = { type: 'response.output_item.added', item_id: 'fc_1', item: CALL };
    expect((await read(CREATED, item, bare, completed())).content).toEqual(now('{}'));
  });

  it('takes arguments that come with their end only', async () => {
    const end = {
      type: 'response.function_call_arguments.done',
      output_index: 0,
      item_id: 'fc_1',
      arguments: '{"a":1}',
    };
    expect((await read(CREATED, added(0, CALL), end, completed())).content).toEqual(now('{"a":1}'));
  });

  it('takes arguments that come with the end of the item only', async () => {
    const item = { ...CALL, arguments: '{"a":1}' };
    expect((await read(CREATED, added(0, CALL), done(0, item), completed())).content).toEqual(now('{"a":1}'));
    expect((await read(CREATED, done(0, item), completed())).content).toEqual(now('{"a":1}'));
  });

  it('reads content that only the end of the response has, and nothing twice', async () => {
    const output = [
      { type: 'message', content: [{ type: 'output_text', text: 'Hello' }] },
      { ...CALL, arguments: '{"a":1}' },
    ];
    const reply = await read(CREATED, textDelta('Hel'), completed({ output }));
    expect(reply.content).toEqual([{ type: 'text', text: 'Hello' }, ...now('{"a":1}')]);
  });

  it('says the proof of reasoning once, though both the item and the response end with it', async () => {
    const item = { type: 'reasoning', summary: [], encrypted_content: 'gAAA' };
    const reader = buildResponsesReader(buildTarget('responses'));
    const out: ModelDelta[] = [];
    for (const event of [CREATED, done(0, item), completed({ output: [item] })]) {
      reader.push({ data: JSON.stringify(event) }, out);
    }
    expect(out.map((delta) => delta.type)).toEqual(['start', 'reasoning_signature', 'finish']);
  });

  it('makes {} of a call without arguments', async () => {
    expect((await read(CREATED, added(0, CALL), done(0, CALL), completed())).content).toEqual(now('{}'));
  });

  it('makes ids where call ids are blank or repeated', async () => {
    const reply = await read(CREATED, done(0, { ...CALL, call_id: '' }), done(1, CALL), done(2, CALL), completed());
    const ids = callIdsOf(reply.content);
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/);
  });

  it('refuses a call without a name', async () => {
    await expect(read(CREATED, done(0, { ...CALL, name: '' }))).rejects.toMatchObject({ code: 'upstream' });
  });

  it('joins several summaries of one reasoning item, and keeps its proof', async () => {
    const summary = (summary_index: number, delta: string) => ({
      type: 'response.reasoning_summary_text.delta',
      output_index: 0,
      summary_index,
      delta,
    });
    const parts = [
      { type: 'summary_text', text: 'one' },
      { type: 'summary_text', text: 'two' },
    ];
    const item = { type: 'reasoning', summary: parts, encrypted_content: 'gAAA' };
    const reply = await read(
      CREATED,
      added(0, { type: 'reasoning' }),
      summary(0, 'one'),
      summary(1, 'two'),
      done(0, item),
      completed(),
    );
    expect(reply.content).toEqual([
      { type: 'reasoning', text: 'one\n\ntwo', summary: true, encrypted: 'gAAA', issuer: 'acme/small' },
    ]);
  });

  it('reads usage, and the reason for a short reply', async () => {
    const usage = {
      input_tokens: 9,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 8,
      output_tokens_details: { reasoning_tokens: 5 },
    };
    const response = { id: 'r', status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, usage };
    const reply = await read(CREATED, textDelta('Hi'), { type: 'response.incomplete', response });
    expect(reply).toMatchObject({
      finish: 'length',
      usage: { input: 9, output: 8, cacheRead: 4, cacheWrite: 0, reasoning: 5 },
    });
  });

  it('does without response.created, and skips events of other kinds', async () => {
    const other = { type: 'response.web_search_call.searching', output_index: 3 };
    const reply = await read(other, textDelta('Hi'), completed());
    expect(reply.content).toEqual([{ type: 'text', text: 'Hi' }]);
  });

  it('fails when it ends before the response does', async () => {
    await expect(read(CREATED, textDelta('Hi'))).rejects.toMatchObject({ code: 'upstream' });
  });

  it.each([
    [
      { type: 'response.failed', response: { status: 'failed', error: { code: 'rate_limit_exceeded', message: 'x' } } },
      'rate_limited',
    ],
    [
      { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error', message: 'x' } } },
      'upstream',
    ],
    [{ type: 'error', code: 'context_length_exceeded', message: 'x' }, 'context_overflow'],
    [{ type: 'error', error: { type: 'invalid_request_error', message: 'bad tool' } }, 'invalid_request'],
  ])('turns %j into its fault', async (event, fault) => {
    await expect(read(CREATED, event)).rejects.toMatchObject({ code: fault });
  });

  it('turns a JSON error under status 200 into its fault', async () => {
    const body = JSON.stringify({ error: { message: 'x', type: 'overloaded_error' } });
    await expect(readBody('responses', body)).rejects.toMatchObject({ code: 'unavailable' });
  });
});
