import type { ModelsConfig, ProvidersConfig } from './config.ts';
import type { Logger } from '../platform/log.ts';
import { orderByKey } from './affinity.ts';
import { DEFAULT_BREAKER, buildBreaker } from './breaker.ts';
import type { BreakerPolicy } from './breaker.ts';
import { callUpstream } from './call.ts';
import { ModelError } from './model.ts';
import type { Inference, ModelInfo, ModelRequest } from './model.ts';
import { callNative, isSilentEvent } from './native.ts';
import type { NativeCall, NativeEvent } from './native.ts';
import { buildModelTable } from './providers.ts';
import type { ModelEntry } from './providers.ts';
import { DEFAULT_RETRY, streamWithRetries } from './retry.ts';
import type { Candidate, Failure, RetryPolicy, Watch } from './retry.ts';
import { DEFAULT_RETRY_BUDGET, buildRetryBudget } from './retry-budget.ts';
import { streamScript } from './script.ts';
import { openTransport } from './transport.ts';
import type { Transport } from './transport.ts';
import { DIALECTS } from './upstream/dialects.ts';
import type { UpstreamTarget } from './upstream/dialect.ts';
import { parseWire } from './upstream/wire.ts';

/** What the gateway needs beyond the worker. */
export type GatewayInference = Inference & {
  listModels(): ModelInfo[];
  /** whether the configuration spells the name out */
  isListed(model: string): boolean;
  /**
   * How a call goes to its upstreams as it came; undefined where one of them speaks another format, or is to be
   * translated. `force` asks for nothing but the format.
   */
  findPassThrough(
    request: ModelRequest,
    native: NativeCall,
    options: { force: boolean },
  ): ((signal: AbortSignal) => AsyncGenerator<NativeEvent>) | undefined;
  /** Input tokens by the upstream's own count; undefined where it has none to give. */
  countTokens(request: ModelRequest, signal: AbortSignal): Promise<number | undefined>;
};

export type InferenceOptions = {
  providers: ProvidersConfig;
  models: ModelsConfig;
  log: Logger;
  retry?: Partial<RetryPolicy>;
  /** absent: every upstream is tried, however often it has failed */
  breaker?: Partial<BreakerPolicy>;
  /** whether calls with the same `cacheKey` begin with the same upstream of a list, instead of the first */
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
    const count = parseWire(data).input_tokens;
    return typeof count === 'number' ? count : undefined;
  }
  return undefined;
}

/**
 * Model calls by name over the configured providers and the built-in `script/demo`.
 * Throws a `StartupError` when the configuration contradicts itself.
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

  /** Ids that callers make up share the state of their provider. */
  function groupOf({ name }: { name: string }): string {
    return listed.has(name) ? name : `${name.slice(0, name.indexOf('/'))}/*`;
  }

  /** Those to try, in order. Throws `unavailable` when all of them are left alone. */
  function chooseCandidates<T>(candidates: Candidate<T>[], { cacheKey }: ModelRequest): Candidate<T>[] {
    const ordered = affinity && cacheKey !== undefined ? orderByKey(cacheKey, candidates) : candidates;
    if (breaker === undefined) return ordered;
    const allowed = ordered.filter((candidate) => breaker.allows(groupOf(candidate)));
    if (allowed.length > 0) return allowed;
    const retryAfterMs = breaker.retryAfterMs(candidates.map(groupOf));
    throw new ModelError('unavailable', 'Every provider of this model is failing.', { retryAfterMs });
  }

  function noteFailure({ name, attempt, error, waitMs }: Failure): void {
    // The message may quote what the caller sent: it stays out of the log.
    const { code: fault, status } = error;
    log.warn({ model: name, attempt, fault, status, waitMs }, 'model call failed');
    if (waitMs === undefined) breaker?.fail(groupOf({ name }), fault);
  }

  const watch: Watch = { failed: noteFailure, begun: (name) => breaker?.succeed(groupOf({ name })) };

  function buildCandidate({ info, target }: ModelEntry, request: ModelRequest): Candidate {
    return {
      name: info.name,
      group: groupOf(info),
      stream: (signal) =>
        target === undefined ? streamScript(request, signal) : callUpstream(transport, target, request, signal),
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
    stream(request, signal) {
      const choose = () => {
        signal.throwIfAborted();
        const entries = table.resolve(request.model);
        if (entries.length === 0) throw new ModelError('unknown_model', 'No provider serves this model.');
        return chooseCandidates(
          entries.map((entry) => buildCandidate(entry, request)),
          request,
        );
      };
      return streamWithRetries({ choose, policy, signal, watch });
    },
    findPassThrough(request, native, { force }) {
      const entries = table.resolve(request.model);
      const targets = entries.flatMap(({ target }) =>
        target !== undefined && target.format === native.format && (force || target.passThrough === true)
          ? [target]
          : [],
      );
      if (targets.length === 0 || targets.length !== entries.length) return undefined;
      const all = targets.map((target): Candidate<NativeEvent> => ({
        name: target.name,
        group: groupOf(target),
        stream: (signal) => callNative({ transport, target, request, signal }, native),
      }));
      const choose = () => chooseCandidates(all, request);
      return (signal) => streamWithRetries({ choose, policy, signal, watch, isSilent: isSilentEvent });
    },
    close: () => transport.close(),
  };
}
