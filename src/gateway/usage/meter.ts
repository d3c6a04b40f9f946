import type { Caller } from '../../http/deps.ts';
import { estimateCost } from '../../inference/cost.ts';
import type { GatewayInference } from '../../inference/inference.ts';
import type { ModelReply, ModelUsage } from '../../inference/model.ts';
import type { TokenBudget } from './budget.ts';
import type { GatewayMetrics } from './metrics.ts';
import type { UsageRecorder } from './recorder.ts';

/** Measures one request. Of `finish` and `fail` the first counts. */
export type Meter = {
  begin(): void;
  finish(reply: ModelReply): void;
  /** `outcome` is the fault's code, or `client_gone` */
  fail(outcome: string): void;
};

export type MeterPorts = {
  inference: GatewayInference;
  recorder: UsageRecorder;
  metrics: GatewayMetrics;
  budget?: TokenBudget | undefined;
};

const NOTHING: ModelUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

/** Names of models come from callers where a provider takes any: those share a label. */
function labelModel(inference: GatewayInference, model: string): string {
  if (inference.isListed(model)) return model;
  const slash = model.indexOf('/');
  return slash === -1 ? 'other' : `${model.slice(0, slash)}/*`;
}

export function startMeter(
  { inference, recorder, metrics, budget }: MeterPorts,
  { format, model: asked, caller }: { format: string; model: string; caller: Caller },
): Meter {
  const started = performance.now();
  let ended = false;

  function end(model: string, usage: ModelUsage, outcome: string): void {
    if (ended) return;
    ended = true;
    const ms = performance.now() - started;
    const price = inference.findModel(model)?.price;
    const costUsd = price === undefined ? 0 : estimateCost(usage, price);
    const label = labelModel(inference, model);
    metrics.requests.inc({ format, model: label, outcome });
    metrics.duration.observe({ model: label }, ms / 1000);
    metrics.tokens.inc({ model: label, type: 'input' }, usage.input);
    metrics.tokens.inc({ model: label, type: 'output' }, usage.output);
    metrics.tokens.inc({ model: label, type: 'cached_input' }, usage.cacheRead);
    metrics.cost.inc({ model: label }, costUsd);
    if (usage.input + usage.output > 0) budget?.spend(caller.keyId, usage.input + usage.output);
    recorder.add(
      {
        organizationId: caller.organizationId,
        keyId: caller.keyId,
        model,
        day: new Date().toISOString().slice(0, 10),
      },
      {
        requests: 1,
        failures: outcome === 'ok' ? 0 : 1,
        inputTokens: usage.input,
        cachedInputTokens: usage.cacheRead,
        outputTokens: usage.output,
        reasoningTokens: usage.reasoning,
        costUsd,
        latencyMs: Math.round(ms),
      },
    );
  }

  return {
    begin() {
      metrics.firstToken.observe({ model: labelModel(inference, asked) }, (performance.now() - started) / 1000);
    },
    finish: (reply) => end(reply.model, reply.usage, 'ok'),
    fail: (outcome) => end(asked, NOTHING, outcome),
  };
}
