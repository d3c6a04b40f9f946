import type { ModelsConfig, ProvidersConfig } from './config.ts';
import type { Logger } from '../platform/log.ts';
import { orderByKey } from './affinity.ts';
import { DEFAULT_BREAKER, buildBreaker } from './breaker.ts';
import type { BreakerPolicy } from './breaker.ts';
import { callUpstream } from './call.ts';
import { ModelError } from './model.ts';
import type { CallOptions, Inference, ModelInfo, ModelRequest } from './model.ts';
import { callPassThrough, isSilentEvent } from './pass-through.ts';
import type { PassThroughCall, PassThroughEvent } from './pass-through.ts';
import { buildModelTable } from './providers.ts';
import type { ModelEntry } from './providers.ts';
import { DEFAULT_RETRY, streamWithRetries } from './retry.ts';
import type { Candidate, Failure, RetryPolicy, CallObserver } from './retry.ts';
import { DEFAULT_RETRY_BUDGET, buildRetryBudget } from './retry-budget.ts';
import { streamScript } from './script.ts';
import { openTransport } from './transport.ts';
import type { Transport } from './transport.ts';
import { DIALECTS } from './upstream/dialects.ts';
import type { UpstreamTarget } from './upstream/dialect.ts';
import { parseObject } from './upstream/wire.ts';

/** What the gateway needs in addition to the worker. */
export type GatewayInference = Inference & {
  listModels(): ModelInfo[];
  /** whether the configuration lists the name */
  isListed(model: string): boolean;
  /**
   * How a call is forwarded unchanged; undefined if one of its upstreams has another format or no `passThrough`. With
   * `force` only the format matters.
   */
  findPassThrough(
    request: ModelRequest,
    passThrough: PassThroughCall,
    options: { force: boolean },
  ): ((signal: AbortSignal) => AsyncGenerator<PassThroughEvent>) | undefined;
  /** Input tokens as counted by the upstream; undefined if it does not count. */
  countTokens(request: ModelRequest, signal: AbortSignal): Promise<number | undefined>;
};

export type InferenceOptions = {
  providers: ProvidersConfig;
  models: ModelsConfig;
  log: Logger;
  retry?: Partial<RetryPolicy>;
  /** absent: no circuit breaker */
  breaker?: Partial<BreakerPolicy>;
  /** whether calls with the same `cacheKey` try the same upstream of a list first */
  affinity?: boolean;
};

/** Undefined where the upstream's format has no way to ask. */
async function requestCount(
  transport: Transport,
  target: UpstreamTarget,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<number | undefined> {
  const built = DIALECTS[target.format].buildCountRequest?.(request, target);
  if (built === undefined) return undefined;
  const response = await transport.post(target, built, signal);
  response.complete();
  for await (const { data } of response.events) {
    const count = parseObject(data).input_tokens;
    return typeof count === 'number' ? count : undefined;
  }
  return undefined;
}

/** The target with a shorter timeout, if the call wants one. */
export function limitSilence(target: UpstreamTarget, { silenceMs = Infinity }: CallOptions): UpstreamTarget {
  return { ...target, timeoutMs: Math.min(target.timeoutMs, silenceMs) };
}

/**
 * Model calls by name over the configured providers and the built-in `script/demo`.
 * Throws a `StartupError` for a contradictory configuration.
 */
export function openInference({
  providers,
  models,
  log,
  retry = {},
  breaker: breakerOptions,
  affinity = false,
}: InferenceOptions): GatewayInference {
  const table = buildModelTable(providers, models);
  const listed = new Set(table.list().map(({ name }) => name));
  const transport = openTransport();
  const policy = { ...DEFAULT_RETRY, budget: buildRetryBudget(DEFAULT_RETRY_BUDGET), ...retry };
  const breaker = breakerOptions && buildBreaker({ ...DEFAULT_BREAKER, ...breakerOptions });

  /** The key of breakers and retry budgets. Unlisted model ids share the key of their provider. */
  function getGroup({ name }: { name: string }): string {
    return listed.has(name) ? name : `${name.slice(0, name.indexOf('/'))}/*`;
  }

  /** The candidates to try, in order. Throws `unavailable` when the breakers of all are open. */
  function chooseCandidates<T>(candidates: Candidate<T>[], { cacheKey }: ModelRequest): Candidate<T>[] {
    const ordered = affinity && cacheKey !== undefined ? orderByKey(cacheKey, candidates) : candidates;
    if (breaker === undefined) return ordered;
    const allowed = ordered.filter((candidate) => breaker.allows(getGroup(candidate)));
    if (allowed.length > 0) return allowed;
    const retryAfterMs = breaker.retryAfterMs(candidates.map(getGroup));
    throw new ModelError('unavailable', 'Every provider of this model is failing.', { retryAfterMs });
  }

  function recordFailure({ name, attempt, error, waitMs }: Failure): void {
    // The message may quote the caller's request, so it is not logged.
    const { code: fault, status } = error;
    log.warn({ model: name, attempt, fault, status, waitMs }, 'model call failed');
    if (waitMs === undefined) breaker?.fail(getGroup({ name }), fault);
  }

  const watch: CallObserver = { failed: recordFailure, begun: (name) => breaker?.succeed(getGroup({ name })) };

  function buildCandidate({ info, target }: ModelEntry, request: ModelRequest, options: CallOptions): Candidate {
    return {
      name: info.name,
      group: getGroup(info),
      stream: (signal) =>
        target === undefined
          ? streamScript(request, signal)
          : callUpstream(transport, limitSilence(target, options), request, signal),
    };
  }

  return {
    findModel: (model) => table.find(model),
    listModels: () => table.list(),
    isListed: (model) => listed.has(model),
    async countTokens(request, signal) {
      const target = table.resolve(request.model)[0]?.target;
      if (target === undefined) return undefined;
      try {
        return await requestCount(transport, target, request, signal);
      } catch (error) {
        // Servers that imitate a format often lack the route that counts.
        if (error instanceof ModelError) return undefined;
        throw error;
      }
    },
    stream(request, signal, options = {}) {
      const choose = () => {
        signal.throwIfAborted();
        const entries = table.resolve(request.model);
        if (entries.length === 0) throw new ModelError('unknown_model', 'No provider serves this model.');
        return chooseCandidates(
          entries.map((entry) => buildCandidate(entry, request, options)),
          request,
        );
      };
      const { attempts = policy.attempts } = options;
      return streamWithRetries({ choose, policy: { ...policy, attempts }, signal, watch });
    },
    findPassThrough(request, passThrough, { force }) {
      const entries = table.resolve(request.model);
      const targets = entries.flatMap(({ target }) =>
        target !== undefined && target.format === passThrough.format && (force || target.passThrough === true)
          ? [target]
          : [],
      );
      if (targets.length === 0 || targets.length !== entries.length) return undefined;
      const all = targets.map((target): Candidate<PassThroughEvent> => ({
        name: target.name,
        group: getGroup(target),
        stream: (signal) => callPassThrough({ transport, target, request, signal }, passThrough),
      }));
      const choose = () => chooseCandidates(all, request);
      return (signal) => streamWithRetries({ choose, policy, signal, watch, isSilent: isSilentEvent });
    },
    close: () => transport.close(),
  };
}
