import { USAGE_COUNTS } from '../../contract/usage.ts';
import type { Usage } from '../../contract/usage.ts';
import type { ModelInfo, ModelUsage } from '../../../inference/model.ts';
import { estimateCost } from '../../../inference/cost.ts';

/** Counts of one more model call added to those of the turn so far. */
export function addCall(turn: Usage, call: ModelUsage, model: ModelInfo): Usage {
  const cost = model.price === undefined ? undefined : estimateCost(call, model.price);
  const used = call.input + call.output;
  return {
    model: model.name,
    input: (turn.input ?? 0) + call.input,
    output: (turn.output ?? 0) + call.output,
    cache_read: (turn.cache_read ?? 0) + call.cacheRead,
    cache_write: (turn.cache_write ?? 0) + call.cacheWrite,
    reasoning: (turn.reasoning ?? 0) + call.reasoning,
    total: (turn.total ?? 0) + used,
    calls: (turn.calls ?? 0) + 1,
    context_used: used,
    context_max: model.contextWindow,
    context_percent: Math.round((used / model.contextWindow) * 10_000) / 100,
    ...(cost === undefined
      ? { cost_status: 'unknown' as const }
      : { cost_usd: (turn.cost_usd ?? 0) + cost, cost_status: 'estimated' as const }),
  };
}

/** As `addCall`, for a call that broke off: its context fields are dropped. */
export function addBrokenCall(turn: Usage, call: ModelUsage, model: ModelInfo): Usage {
  const { context_used: _used, context_max: _max, context_percent: _percent, ...counted } = addCall({}, call, model);
  return turn.calls === undefined ? { ...turn, ...counted } : addCounts(turn, counted);
}

/** Counts of another conversation, as a subagent's, added to a turn's; what describes the turn's own window stays. */
export function addCounts(turn: Usage, other: Usage): Usage {
  const sum: Usage = { ...turn };
  for (const field of USAGE_COUNTS) {
    if (other[field] !== undefined) sum[field] = (turn[field] ?? 0) + other[field];
  }
  return sum;
}

/** The counts of `usage` beyond those that it had before. */
export function listNewCounts(usage: Usage, before: Usage): Usage {
  const more: Usage = {};
  for (const field of USAGE_COUNTS) {
    if (usage[field] !== undefined) more[field] = usage[field] - (before[field] ?? 0);
  }
  return more;
}
