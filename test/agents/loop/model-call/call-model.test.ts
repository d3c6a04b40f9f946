import { expect, it } from 'vitest';
import { callModel } from '../../../../src/agents/loop/model-call/call-model.ts';
import { ModelError } from '../../../../src/inference/model.ts';
import type { ModelDelta } from '../../../../src/inference/model.ts';
import { buildRecordingTool, openTurn, typesOf } from '../turn-deps.ts';

it('returns text and reasoning as events, under the ids of their live frames', async () => {
  const { turn, deps, live } = openTurn({ prompt: 'think: why\nHello' });
  const { events, calls, finish } = await callModel(turn, deps);
  expect({ types: events.map(({ payload }) => payload.type), calls, finish }).toEqual({
    types: ['agent.thinking', 'agent.message'],
    calls: [],
    finish: 'stop',
  });
  expect(new Set(typesOf(live))).toEqual(new Set(['agent.thinking', 'agent.message']));
  expect(turn.steps).toBe(1);
  expect(turn.usage.calls).toBe(1);
});

it('offers only enabled tools, and shows a preview of their calls', async () => {
  const { tool } = buildRecordingTool('terminal');
  const { turn, deps, requests, live } = openTurn({ prompt: 'call terminal {"id":"1"}', tools: [tool] });
  const { calls } = await callModel(turn, deps);
  expect(calls).toMatchObject([{ name: 'terminal', arguments: '{"id":"1"}', index: 0 }]);
  expect(requests[0]?.tools.map(({ name }) => name)).toEqual(['terminal']);
  expect(live).toContainEqual({ type: 'agent.tool_use', status: 'streaming' });
  await callModel(turn, { ...deps, session: { ...deps.session, toolConfigs: [] } });
  expect(requests.at(-1)?.tools).toEqual([]);
});

it('rejects a model that no provider serves', async () => {
  const { turn, deps } = openTurn();
  const call = callModel(turn, { ...deps, session: { ...deps.session, modelName: 'acme/gone' } });
  await expect(call).rejects.toThrow('No provider is configured for the model acme/gone.');
});

it('keeps the text of an interrupted reply for the log', async () => {
  const { turn, deps, abort } = openTurn({ prompt: 'Hello there' });
  const inference = {
    ...deps.inference,
    async *stream(): AsyncGenerator<ModelDelta> {
      yield { type: 'start', id: 'r1', model: deps.session.modelName };
      yield { type: 'text', index: 0, text: 'half a sen' };
      abort.abort(new Error('stop'));
      throw abort.signal.reason;
    },
  };
  await expect(callModel(turn, { ...deps, inference })).rejects.toThrow('stop');
  expect(turn.unwritten.map(({ payload }) => payload)).toMatchObject([
    { type: 'agent.message', content: [{ type: 'text', text: 'half a sen' }] },
  ]);
});

it('requests a stream that broke again, until the time for retries is over', async () => {
  const { turn, deps, waits } = openTurn();
  let attempts = 0;
  const inference = {
    ...deps.inference,
    async *stream(): AsyncGenerator<ModelDelta> {
      attempts += 1;
      yield { type: 'start', id: `r${attempts}`, model: deps.session.modelName };
      yield { type: 'text', index: 0, text: 'half' };
      throw new ModelError('upstream', 'The connection broke.');
    },
  };
  const limits = { ...deps.limits, retryForMs: 2000 };
  await expect(callModel(turn, { ...deps, inference, limits })).rejects.toThrow('The connection broke.');
  expect(attempts).toBeGreaterThan(1);
  const shown = waits.filter((waiting) => waiting !== null);
  expect(shown).toHaveLength(attempts - 1);
  expect(shown[0]).toMatchObject({ code: 'upstream_unavailable', attempt: 1, reason: 'The connection broke.' });
  expect(waits.at(-1)).toBeNull();
  expect(turn.unwritten).toEqual([]);
});

it('limits a reply to the model’s output limit, and to a quarter of its window', async () => {
  const limitOf = async (limits: object) => {
    const { turn, deps, requests } = openTurn();
    const info = { name: 'acme/small', contextWindow: 32_000, vision: true, ...limits };
    await callModel(turn, { ...deps, inference: { ...deps.inference, findModel: () => info } });
    return requests[0]?.maxOutputTokens;
  };
  expect(await limitOf({ maxOutputTokens: 4000 })).toBe(4000);
  expect(await limitOf({ maxOutputTokens: 64_000 })).toBe(8000);
  expect(await limitOf({})).toBeUndefined();
});
