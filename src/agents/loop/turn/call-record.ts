import { estimateCost } from '../../../inference/cost.ts';
import type { ModelInfo, ModelUsage } from '../../../inference/model.ts';
import type { ModelCallRecord } from '../../log/entry.ts';

const NO_USAGE: ModelUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

export type EndedCall = {
  /** whose price applies */
  model: ModelInfo;
  startedAt: Date;
  firstTokenAt?: Date | undefined;
  usage?: ModelUsage | undefined;
  /** failed tries before this one */
  retries?: number;
  /** why it failed */
  error?: string;
  /** the number of the reply in its turn; absent for calls beside the conversation, such as a summary */
  step?: number;
};

/** One model call of a turn as the ledger holds it. */
export function buildCallRecord(turn: { id: string | null }, call: EndedCall): ModelCallRecord {
  const { model, usage = NO_USAGE } = call;
  return {
    turnId: turn.id,
    threadId: null,
    step: call.step ?? null,
    model: model.name,
    startedAt: call.startedAt.toISOString(),
    firstTokenAt: call.firstTokenAt?.toISOString() ?? null,
    latencyMs: Math.max(0, Date.now() - call.startedAt.getTime()),
    usage,
    costUsd: model.price === undefined ? null : estimateCost(usage, model.price),
    price: model.price ?? null,
    retries: call.retries ?? 0,
    error: call.error ?? null,
  };
}

/** Calls of a subagent as calls of the turn that it works for. */
export function tagThreadCalls(calls: readonly ModelCallRecord[], turnId: string, threadId: string): ModelCallRecord[] {
  return calls.map((call) => ({ ...call, turnId, threadId }));
}
