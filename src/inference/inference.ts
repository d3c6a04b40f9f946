import type { ModelsConfig, ProvidersConfig } from './config.ts';
import type { Logger } from '../platform/log.ts';
import { DEFAULT_BREAKER, buildBreaker } from './breaker.ts';
import type { Breaker, BreakerPolicy } from './breaker.ts';
import { callUpstream } from './call.ts';
import { ModelError } from './model.ts';
import type { CallOptions, Inference, ModelDelta, ModelInfo, ModelRequest } from './model.ts';
import { callPassThrough, isSilentEvent } from './pass-through.ts';
import type { PassThroughCall, PassThroughEvent } from './pass-through.ts';
import { KeyRing, streamWithKeys } from './key-ring.ts';
import { buildModelTable } from './providers.ts';
import type { ModelEntry } from './model-entry.ts';
import { DEFAULT_RETRY, streamWithRetries } from './retry.ts';
import type { Candidate, RetryPolicy, CallObserver } from './retry.ts';
import { DEFAULT_RETRY_BUDGET, buildRetryBudget } from './retry-budget.ts';
import { Latencies, joinRoutes, orderCandidates } from './routing.ts';
import type { Route, RoutedEntry } from './routing.ts';
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
    options: { force: boolean; organization?: string },
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
  return silenceMs >= target.timeoutMs ? target : { ...target, timeoutMs: silenceMs };
}

/** What one call is routed by. */
type RoutedCall = { request: ModelRequest; organization: string | undefined };

/** Decides which upstreams a call tries and in what order, and remembers how they did. */
class Router {
  readonly #options: Pick<InferenceOptions, 'log' | 'affinity'>;
  readonly #named: ReadonlySet<string>;
  readonly #breaker: Breaker | undefined;
  readonly #latencies = new Latencies();

  constructor(
    { log, affinity = false, breaker }: Pick<InferenceOptions, 'log' | 'affinity' | 'breaker'>,
    named: ReadonlySet<string>,
  ) {
    this.#options = { log, affinity };
    this.#named = named;
    this.#breaker = breaker && buildBreaker({ ...DEFAULT_BREAKER, ...breaker });
  }

  /** The key of breakers and retry budgets. Models that the configuration does not name share the key of their provider. */
  getGroup(name: string, organization = ''): string {
    const group = this.#named.has(name) ? name : `${name.slice(0, name.indexOf('/'))}/*`;
    return `${organization}\n${group}`;
  }

  /**
   * The candidates to try, in order. The only one of a model is always tried; `unavailable` is thrown when the breakers of
   * all of several are open.
   */
  choose<T extends Candidate<unknown> & { weight?: number | undefined }>(
    candidates: readonly T[],
    { routing }: Route,
    { request, organization }: RoutedCall,
  ): readonly T[] {
    if (candidates.length < 2) return candidates;
    const affinityKey = this.#options.affinity === true ? request.cacheKey : undefined;
    // A caller that lists models means their order.
    const order = request.fallbackModels === undefined ? affinityKey : undefined;
    const ordered = orderCandidates(candidates, { routing, latencies: this.#latencies, affinityKey: order });
    const breaker = this.#breaker;
    if (breaker === undefined) return ordered;
    const allowed = ordered.filter(({ name }) => breaker.allows(this.getGroup(name, organization)));
    if (allowed.length > 0) return allowed;
    const retryAfterMs = breaker.retryAfterMs(ordered.map(({ name }) => this.getGroup(name, organization)));
    throw new ModelError('unavailable', 'Every provider of this model is failing.', { retryAfterMs });
  }

  watch(organization: string | undefined): CallObserver {
    return {
      failed: ({ name, attempt, error, waitMs }) => {
        // The message may quote the caller's request, so it is not logged.
        const { code: fault, status } = error;
        this.#options.log.warn({ model: name, attempt, fault, status, waitMs }, 'model call failed');
        if (waitMs === undefined) this.#breaker?.fail(this.getGroup(name, organization), fault);
      },
      begun: (name, ms) => {
        this.#breaker?.succeed(this.getGroup(name, organization));
        this.#latencies.note(name, ms);
      },
    };
  }
}

function isBlockedDelta(delta: ModelDelta): boolean {
  return delta.type === 'finish' && (delta.reason === 'content_filter' || delta.reason === 'refusal');
}

function isBlockedEvent({ deltas }: PassThroughEvent): boolean {
  return deltas.some(isBlockedDelta) && deltas.every((delta) => delta.type === 'start' || delta.type === 'finish');
}

/** Streams over the target with each of its keys in turn, if it has several. */
function buildKeyedStream(rings: WeakMap<readonly string[], KeyRing>) {
  return <T>(target: UpstreamTarget, stream: (target: UpstreamTarget) => AsyncIterable<T>): AsyncIterable<T> => {
    const { apiKeys } = target;
    if (apiKeys === undefined) return stream(target);
    const ring = rings.get(apiKeys) ?? new KeyRing(apiKeys);
    rings.set(apiKeys, ring);
    return streamWithKeys(ring, (apiKey) => stream({ ...target, apiKey }));
  };
}

/**
 * Model calls by name over the configured providers and the built-in `script/demo`.
 * Throws a `StartupError` for a contradictory configuration.
 */
export function openInference({ providers, models, retry = {}, ...options }: InferenceOptions): GatewayInference {
  const table = buildModelTable(providers, models);
  const listed = new Set(table.list().map(({ name }) => name));
  const members = Object.keys(models).flatMap((name) => table.resolve(name).entries.map(({ info }) => info.name));
  const router = new Router(options, new Set([...listed, ...members]));
  const transport = openTransport();
  const policy = { ...DEFAULT_RETRY, budget: buildRetryBudget(DEFAULT_RETRY_BUDGET), ...retry };
  const streamKeyed = buildKeyedStream(new WeakMap());

  function resolve({ model, fallbackModels = [] }: ModelRequest): Route {
    return fallbackModels.length === 0
      ? table.resolve(model)
      : joinRoutes([model, ...fallbackModels].map((name) => table.resolve(name)));
  }

  function buildCandidate<T>(entry: RoutedEntry, { organization }: RoutedCall, stream: Candidate<T>['stream']) {
    const { info, weight, attempts } = entry;
    const { name, contextWindow } = info;
    return { name, group: router.getGroup(name, organization), contextWindow, weight, attempts, stream };
  }

  function streamEntry(
    { target }: ModelEntry,
    request: ModelRequest,
    call: CallOptions,
    signal: AbortSignal,
  ): AsyncIterable<ModelDelta> {
    if (target === undefined) return streamScript(request, signal);
    return streamKeyed(limitSilence(target, call), (keyed) => callUpstream(transport, keyed, request, signal));
  }

  return {
    findModel: (model) => table.find(model),
    listModels: () => table.list(),
    isListed: (model) => listed.has(model),
    async countTokens(request, signal) {
      const target = table.resolve(request.model).entries[0]?.target;
      if (target === undefined) return undefined;
      try {
        return await requestCount(transport, target, request, signal);
      } catch (error) {
        // Servers that imitate a format often lack the route that counts.
        if (error instanceof ModelError) return undefined;
        throw error;
      }
    },
    stream(request, signal, call = {}) {
      const { attempts = policy.attempts, organization } = call;
      const routed = { request, organization };
      const route = resolve(request);
      const choose = () => {
        signal.throwIfAborted();
        if (route.entries.length === 0) throw new ModelError('unknown_model', 'No provider serves this model.');
        const candidates = route.entries.map((entry) =>
          buildCandidate(entry, routed, (aborted) => streamEntry(entry, request, call, aborted)),
        );
        return router.choose(candidates, route, routed);
      };
      return streamWithRetries({
        choose,
        policy: { ...policy, attempts },
        signal,
        watch: router.watch(organization),
        isBlocked: route.fallbackOnContentPolicy ? isBlockedDelta : undefined,
      });
    },
    findPassThrough(request, passThrough, { force, organization }) {
      const route = resolve(request);
      const routed = { request, organization };
      const candidates = route.entries.flatMap((entry) => {
        const { target } = entry;
        if (target === undefined || target.format !== passThrough.format) return [];
        if (!force && target.passThrough !== true) return [];
        const stream = (signal: AbortSignal) =>
          streamKeyed(target, (keyed) => callPassThrough({ transport, target: keyed, request, signal }, passThrough));
        return [buildCandidate(entry, routed, stream)];
      });
      if (candidates.length === 0 || candidates.length !== route.entries.length) return undefined;
      const choose = () => router.choose(candidates, route, routed);
      const watch = router.watch(organization);
      const isBlocked = route.fallbackOnContentPolicy ? isBlockedEvent : undefined;
      return (signal) => streamWithRetries({ choose, policy, signal, watch, isSilent: isSilentEvent, isBlocked });
    },
    close: () => transport.close(),
  };
}
