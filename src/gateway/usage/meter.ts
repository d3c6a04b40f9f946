import type { Reservation } from '../../platform/budgets/budgets.ts';
import type { Caller } from '../../platform/http/deps.ts';
import { countLatency, toHour } from '../../platform/store/usage.ts';
import type { UsageCounts, UsageRef } from '../../platform/store/usage.ts';
import { estimateCost } from '../../inference/cost.ts';
import type { GatewayInference } from '../../inference/inference.ts';
import type { ModelDelta, ModelReply, ModelUsage } from '../../inference/model.ts';
import type { TokenBudget } from './budget.ts';
import type { CallSpan } from './call-span.ts';
import type { CallMetrics, CallRecord } from './metrics.ts';
import type { RequestLog } from './request-recorder.ts';
import type { UsageRecorder } from './recorder.ts';

/** Measures one request. The first call of `finish` or `fail` counts. */
export type Meter = {
  begin(): void;
  /** Counts the text sent to the client, for replies that never finish. */
  note(delta: ModelDelta): void;
  finish(reply: ModelReply, outcome?: string): void;
  /** `outcome` is the fault's code, or `client_gone` */
  fail(outcome: string): void;
  /** Resolves once the budgets have the cost of the call. */
  settled(): Promise<void>;
};

export type MeteredCall = {
  format: string;
  model: string;
  caller: Caller;
  /** for the request log */
  about: { requestId: string; user: string | undefined; tags: string[] };
  /** estimated input tokens, for replies that end before the provider has counted */
  estimateInput: () => number;
  /** of the budgets that the call falls under */
  reservation?: Reservation | undefined;
  /** of the trace that the call belongs to */
  span?: CallSpan | undefined;
};

export type MeterPorts = {
  inference: GatewayInference;
  recorder: UsageRecorder;
  requests: RequestLog;
  metrics: readonly CallMetrics[];
  budget?: TokenBudget | undefined;
};

const CHARACTERS_PER_TOKEN = 4;
/** Maximum characters of a user's id in the request log. */
const MAX_USER = 256;
const NO_USAGE: ModelUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

/** If a provider accepts any model name, callers choose it: such names share a label. */
function labelModel(inference: GatewayInference, model: string): string {
  if (inference.isListed(model)) return model;
  const slash = model.indexOf('/');
  if (slash === -1) return 'other';
  const provider = model.slice(0, slash);
  return inference.isShared(provider) ? `${provider}/*` : 'organization/*';
}

function buildRef({ organizationId, keyId }: Caller, name: string, userId: string): UsageRef {
  const hour = toHour(new Date());
  const none = { agentId: '', subjectId: '', automationId: '' };
  return { organizationId, hour, source: 'gateway', kind: 'model', name, keyId, userId, ...none };
}

function countCall(usage: ModelUsage, call: { outcome: string; costUsd: number; ms: number }): UsageCounts {
  return {
    requests: 1,
    failures: call.outcome === 'ok' ? 0 : 1,
    inputTokens: usage.input,
    cachedInputTokens: usage.cacheRead,
    cacheWriteTokens: usage.cacheWrite,
    outputTokens: usage.output,
    reasoningTokens: usage.reasoning,
    credits: 0,
    costUsd: call.costUsd,
    latencyMs: Math.round(call.ms),
    latencies: countLatency(call.ms),
  };
}

export function startMeter(
  { inference, recorder, requests, metrics, budget }: MeterPorts,
  { format, model: asked, caller, about, estimateInput, reservation, span }: MeteredCall,
): Meter {
  const started = performance.now();
  const createdAt = new Date().toISOString();
  let firstTokenSeconds: number | undefined;
  let ended = false;
  let answering = asked;
  let told: ModelUsage | undefined;
  let characters = 0;
  let settling = Promise.resolve();

  /** A client that disconnects midway is charged for the part that it received. */
  function estimateUsage(): ModelUsage {
    if (characters === 0) return told ?? NO_USAGE;
    const output = Math.max(told?.output ?? 0, Math.ceil(characters / CHARACTERS_PER_TOKEN));
    const input = told === undefined || told.input === 0 ? estimateInput() : told.input;
    return { ...(told ?? NO_USAGE), input, output };
  }

  function end(model: string, usage: ModelUsage, outcome: string): void {
    if (ended) return;
    ended = true;
    const ms = performance.now() - started;
    const user = about.user?.slice(0, MAX_USER) ?? null;
    const price = inference.forOrganization(caller.organizationId).findModel(model)?.price;
    const costUsd = price === undefined ? 0 : estimateCost(usage, price);
    if (reservation !== undefined) settling = reservation.settle(costUsd);
    const responseModel = labelModel(inference, model);
    const call: CallRecord = {
      format,
      provider: responseModel.split('/', 1)[0] ?? responseModel,
      requestModel: labelModel(inference, asked),
      responseModel,
      outcome,
      seconds: ms / 1000,
      firstTokenSeconds,
      usage,
      costUsd,
    };
    for (const each of metrics) each.record(call);
    span?.end({ asked, answered: model, outcome, usage, firstTokenSeconds, costUsd });
    requests.add({
      organizationId: caller.organizationId,
      requestId: about.requestId,
      createdAt,
      keyId: caller.keyId,
      format,
      model: asked,
      upstream: model,
      outcome,
      inputTokens: usage.input,
      cachedInputTokens: usage.cacheRead,
      outputTokens: usage.output,
      reasoningTokens: usage.reasoning,
      costUsd,
      price: price ?? null,
      latencyMs: Math.round(ms),
      firstTokenMs: firstTokenSeconds === undefined ? null : Math.round(firstTokenSeconds * 1000),
      user,
      tags: about.tags,
    });
    if (usage.input + usage.output > 0) budget?.spend(caller, usage.input + usage.output);
    recorder.add(buildRef(caller, model, user ?? ''), countCall(usage, { outcome, costUsd, ms }));
  }

  return {
    begin() {
      firstTokenSeconds ??= (performance.now() - started) / 1000;
    },
    note(delta) {
      if ('text' in delta) characters += delta.text.length;
      else if (delta.type === 'start') {
        answering = delta.model;
        told = delta.usage;
      }
    },
    finish: (reply, outcome = 'ok') => end(reply.model, reply.usage, outcome),
    fail: (outcome) => end(answering, estimateUsage(), outcome),
    settled: () => settling,
  };
}
