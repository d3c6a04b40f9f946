import { describe, expect, it } from 'vitest';
import { addCall } from '../../../../src/agents/loop/turn/usage.ts';
import { splitUsage } from '../../../../src/agents/contract/usage.ts';
import type { ModelInfo } from '../../../../src/inference/model.ts';

const priced: ModelInfo = { name: 'acme/a', contextWindow: 1000, vision: true, price: { input: 1, output: 2 } };
const free: ModelInfo = { name: 'acme/b', contextWindow: 400, vision: true };
const call = { input: 100, output: 50, cacheRead: 40, cacheWrite: 10, reasoning: 20 };

describe('usage of a turn', () => {
  it('adds up its calls, and describes the window after the last', () => {
    const turn = addCall(addCall({}, call, priced), { ...call, input: 200 }, priced);
    expect(turn).toEqual({
      model: 'acme/a',
      input: 300,
      output: 100,
      cache_read: 80,
      cache_write: 20,
      reasoning: 40,
      total: 400,
      calls: 2,
      context_used: 250,
      context_max: 1000,
      context_percent: 25,
      cost_usd: expect.closeTo(500 / 1_000_000, 12),
      cost_status: 'estimated',
    });
  });

  it('has no cost once a model without a price took part', () => {
    const turn = addCall(addCall({}, call, priced), call, free);
    expect(turn).toMatchObject({ model: 'acme/b', calls: 2, context_max: 400, cost_status: 'unknown' });
    expect(turn).not.toHaveProperty('cost_usd');
  });

  it('is split completely into added and replaced usage', () => {
    const turn = { ...addCall({}, call, priced), last_turn_latency_ms: 12, latency_ms: 12 };
    const { usage, usageAdd } = splitUsage(turn);
    expect({ ...usage, ...usageAdd }).toEqual(turn);
    expect(Object.keys(usage).sort()).toEqual([
      'context_max',
      'context_percent',
      'context_used',
      'cost_status',
      'last_turn_latency_ms',
      'latency_ms',
      'model',
    ]);
  });
});
