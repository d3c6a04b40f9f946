import type { Dispatcher } from 'undici';
import type { ModelsConfig, ProvidersConfig, UpstreamFormat } from './config.ts';
import { omitUndefined } from '../platform/records.ts';
import { callUpstream, noteRequestIds } from './call.ts';
import { requestCount } from './count-tokens.ts';
import { ModelError } from './model.ts';
import type { CallOptions, Inference, ModelDelta, ModelInfo, ModelRequest } from './model.ts';
import { callPassThrough, isSilentEvent } from './pass-through.ts';
import type { PassThroughCall, PassThroughEvent } from './pass-through.ts';
import { refuseForward, requestRaw, streamForward } from './forward.ts';
import type { ForwardCall, ForwardedReply, RawReply } from './forward.ts';
import { buildKeyedStream } from './key-ring.ts';
import type { KeyedStream } from './key-ring.ts';
import { OrganizationTables } from './organization-models.ts';
import type { OrganizationProviders } from './organization-models.ts';
import { buildModelTable } from './providers.ts';
import type { ModelTable } from './providers.ts';
import type { ModelEntry } from './model-entry.ts';
import { DEFAULT_RETRY, streamWithRetries } from './retry.ts';
import type { Candidate, RetryPolicy } from './retry.ts';
import { DEFAULT_RETRY_BUDGET, buildRetryBudget } from './retry-budget.ts';
import { Router } from './router.ts';
import type { RoutedCall, RouterOptions } from './router.ts';
import { joinRoutes } from './routing.ts';
import type { Route, RoutedEntry } from './routing.ts';
import { SCRIPT_PROVIDER, streamScript } from './script.ts';
import { openTransport } from './transport.ts';
import type { RawRequest, Transport } from './transport.ts';
import type { UpstreamTarget } from './upstream/dialect.ts';
import { listLacking } from './upstream/features.ts';
import type { ModelFeature } from './upstream/features.ts';
import { listUpstreams } from './upstream-health.ts';
import type { Upstream } from './upstream-health.ts';

/** An upstream as seen by a request; `built-in` is `script/demo`. */
export type Destination = { format: UpstreamFormat | 'built-in'; lacks: readonly ModelFeature[] };

/** Operations that only the gateway needs. */
export type GatewayInference = Omit<Inference, 'forOrganization'> & {
  /** The same with the organization's own providers. */
  forOrganization(organization: string): GatewayInference;
  /** whether the configuration has the provider, for every organization */
  isShared(provider: string): boolean;
  listModels(): ModelInfo[];
  /** the upstreams that may answer */
  listDestinations(request: Pick<ModelRequest, 'model' | 'fallbackModels'>): Destination[];
  /** whether the configuration lists the name */
  isListed(model: string): boolean;
  /**
   * How a call is forwarded unchanged; undefined if one of its upstreams has another format or no `passThrough`. With
   * `force` only the format matters.
   */
  findPassThrough(
    request: ModelRequest,
    passThrough: PassThroughCall,
    options: PassThroughOptions,
  ): ((signal: AbortSignal) => AsyncGenerator<PassThroughEvent>) | undefined;
  /** The providers, with what this process has seen of them for the organization. */
  listUpstreams(): Upstream[];
  /** The format of a provider; undefined: there is none with this name. */
  findProviderFormat(provider: string): UpstreamFormat | undefined;
  /** Sends a request to a provider with its key. Throws a `ModelError` for any status but 2xx. */
  request(provider: string, request: RawRequest, signal: AbortSignal): Promise<RawReply>;
  /** Opens a call that is not for text, at the first upstream that answers. Throws a `ModelError`. */
  forward(call: ForwardCall, signal: AbortSignal, organization: string): Promise<ForwardedReply>;
  /** Input tokens as counted by the upstream; undefined if it does not count. */
  countTokens(request: ModelRequest, signal: AbortSignal): Promise<number | undefined>;
};

export type InferenceOptions = RouterOptions & {
  providers: ProvidersConfig;
  models: ModelsConfig;
  retry?: Partial<RetryPolicy>;
  /** absent: organizations bring no providers */
  organizations?: OrganizationProviders | undefined;
  /** for the addresses of `organizations` */
  guard?: Dispatcher | undefined;
};

/** State shared by the views of all organizations. */
type Shared = {
  table: ModelTable;
  tables: OrganizationTables;
  listed: ReadonlySet<string>;
  router: Router;
  transport: Transport;
  policy: RetryPolicy;
  streamKeyed: KeyedStream;
};

type PassThroughOptions = { force: boolean } & Pick<CallOptions, 'organization' | 'onRequestId'>;

/** The routing fields of a call that is not for text. */
const NO_CONVERSATION = { system: '', messages: [], tools: [] };

/** The target with a shorter timeout, if the call sets one. */
export function limitSilence(target: UpstreamTarget, { silenceMs = Infinity }: CallOptions): UpstreamTarget {
  return silenceMs >= target.timeoutMs ? target : { ...target, timeoutMs: silenceMs };
}

function isBlockedDelta(delta: ModelDelta): boolean {
  return delta.type === 'finish' && (delta.reason === 'content_filter' || delta.reason === 'refusal');
}

function isBlockedEvent({ deltas }: PassThroughEvent): boolean {
  return deltas.some(isBlockedDelta) && deltas.every((delta) => delta.type === 'start' || delta.type === 'finish');
}

function openShared({ providers, models, retry = {}, organizations, guard, ...options }: InferenceOptions): Shared {
  const table = buildModelTable(providers, models);
  const listed = new Set(table.list().map(({ name }) => name));
  const members = Object.keys(models).flatMap((name) => table.resolve(name).entries);
  return {
    table,
    tables: new OrganizationTables(table, organizations),
    listed,
    router: new Router(options, new Set([...listed, ...members.map(({ info }) => info.name)])),
    transport: openTransport(omitUndefined({ guard })),
    policy: { ...DEFAULT_RETRY, budget: buildRetryBudget(DEFAULT_RETRY_BUDGET), ...retry },
    streamKeyed: buildKeyedStream(),
  };
}

/** Model calls by name over the configured providers and the built-in `script/demo`. */
class ModelCalls implements GatewayInference {
  readonly #shared: Shared;
  readonly #organization: string | undefined;
  readonly #router: Router;
  readonly #transport: Transport;
  readonly #policy: RetryPolicy;
  readonly #streamKeyed: KeyedStream;

  constructor(shared: Shared, organization?: string) {
    this.#shared = shared;
    this.#organization = organization;
    this.#router = shared.router;
    this.#transport = shared.transport;
    this.#policy = shared.policy;
    this.#streamKeyed = shared.streamKeyed;
  }

  forOrganization(organization: string): GatewayInference {
    return new ModelCalls(this.#shared, organization);
  }

  /** Looked up for each call, because organizations can add and remove providers. */
  get #table(): ModelTable {
    return this.#organization === undefined ? this.#shared.table : this.#shared.tables.get(this.#organization);
  }

  isShared(provider: string): boolean {
    return provider === SCRIPT_PROVIDER || this.#shared.table.findProvider(provider) !== undefined;
  }

  #resolve({ model, fallbackModels = [] }: Pick<ModelRequest, 'model' | 'fallbackModels'>): Route {
    return fallbackModels.length === 0
      ? this.#table.resolve(model)
      : joinRoutes([model, ...fallbackModels].map((name) => this.#table.resolve(name)));
  }

  #buildCandidate<T>(entry: RoutedEntry, { organization }: RoutedCall, stream: Candidate<T>['stream']) {
    const { info, weight, attempts } = entry;
    const { name, contextWindow } = info;
    return { name, group: this.#router.getGroup(name, organization), contextWindow, weight, attempts, stream };
  }

  #streamEntry(
    { target }: ModelEntry,
    request: ModelRequest,
    options: CallOptions,
    signal: AbortSignal,
  ): AsyncIterable<ModelDelta> {
    if (target === undefined) return streamScript(request, signal);
    const limited = limitSilence(target, options);
    const transport = noteRequestIds(this.#transport, options.onRequestId);
    return this.#streamKeyed(limited, (keyed) => callUpstream(transport, keyed, request, signal));
  }

  findModel(model: string): ModelInfo | undefined {
    return this.#table.find(model);
  }

  listModels(): ModelInfo[] {
    return this.#table.list();
  }

  listDestinations(request: Pick<ModelRequest, 'model' | 'fallbackModels'>): Destination[] {
    return this.#resolve(request).entries.map(({ target }) =>
      target === undefined ? { format: 'built-in', lacks: [] } : { format: target.format, lacks: listLacking(target) },
    );
  }

  isListed(model: string): boolean {
    return this.#shared.listed.has(model);
  }

  async countTokens(request: ModelRequest, signal: AbortSignal): Promise<number | undefined> {
    const target = this.#table.resolve(request.model).entries[0]?.target;
    if (target === undefined) return undefined;
    try {
      return await requestCount(this.#transport, target, request, signal);
    } catch (error) {
      // Servers that imitate a format often lack the counting route.
      if (error instanceof ModelError) return undefined;
      throw error;
    }
  }

  stream(request: ModelRequest, signal: AbortSignal, options: CallOptions = {}): AsyncIterable<ModelDelta> {
    const { attempts = this.#policy.attempts, organization } = options;
    const routed = { request, organization };
    const route = this.#resolve(request);
    const choose = () => {
      signal.throwIfAborted();
      if (route.entries.length === 0) throw new ModelError('unknown_model', 'No provider serves this model.');
      const candidates = route.entries.map((entry) =>
        this.#buildCandidate(entry, routed, (aborted) => this.#streamEntry(entry, request, options, aborted)),
      );
      return this.#router.choose(candidates, route, routed);
    };
    return streamWithRetries({
      choose,
      policy: { ...this.#policy, attempts },
      signal,
      watch: this.#router.watch(organization),
      isBlocked: route.fallbackOnContentPolicy ? isBlockedDelta : undefined,
    });
  }

  findPassThrough(
    request: ModelRequest,
    passThrough: PassThroughCall,
    { force, organization, onRequestId }: PassThroughOptions,
  ): ((signal: AbortSignal) => AsyncGenerator<PassThroughEvent>) | undefined {
    const route = this.#resolve(request);
    const routed = { request, organization };
    const transport = noteRequestIds(this.#transport, onRequestId);
    const candidates = route.entries.flatMap((entry) => {
      const { target } = entry;
      if (target === undefined || target.format !== passThrough.format) return [];
      if (!force && target.passThrough !== true) return [];
      const stream = (signal: AbortSignal) =>
        this.#streamKeyed(target, (keyed) =>
          callPassThrough({ transport, target: keyed, request, signal }, passThrough),
        );
      return [this.#buildCandidate(entry, routed, stream)];
    });
    if (candidates.length === 0 || candidates.length !== route.entries.length) return undefined;
    const choose = () => this.#router.choose(candidates, route, routed);
    const watch = this.#router.watch(organization);
    const isBlocked = route.fallbackOnContentPolicy ? isBlockedEvent : undefined;
    const policy = this.#policy;
    return (signal) => streamWithRetries({ choose, policy, signal, watch, isSilent: isSilentEvent, isBlocked });
  }

  async forward(call: ForwardCall, signal: AbortSignal, organization: string): Promise<ForwardedReply> {
    const { model, fallbackModels } = call;
    const request = { ...NO_CONVERSATION, model, ...omitUndefined({ fallbackModels }) };
    const route = this.#resolve(request);
    const routed = { request, organization };
    const candidates = route.entries.flatMap((entry) => {
      const { target } = entry;
      if (target === undefined || !call.formats.includes(target.format)) return [];
      const stream = (aborted: AbortSignal) =>
        this.#streamKeyed(target, (keyed) => streamForward(this.#transport, keyed, call, aborted));
      return [this.#buildCandidate(entry, routed, stream)];
    });
    if (candidates.length === 0) throw refuseForward(route.entries.length > 0);
    const choose = () => this.#router.choose(candidates, route, routed);
    const watch = this.#router.watch(organization);
    const policy = this.#policy;
    for await (const reply of streamWithRetries({ choose, policy, signal, watch, isSilent: () => false })) return reply;
    throw refuseForward(false);
  }

  listUpstreams(): Upstream[] {
    const own = this.#shared.tables.getOwn(this.#organization);
    return listUpstreams(this.#table, own, (name) => this.#router.readHealth(name, this.#organization));
  }

  findProviderFormat(provider: string): UpstreamFormat | undefined {
    return this.#table.findProvider(provider)?.format;
  }

  request(provider: string, request: RawRequest, signal: AbortSignal): Promise<RawReply> {
    const target = this.#table.findProvider(provider);
    if (target === undefined) throw new ModelError('unknown_model', 'The provider is not configured.');
    return requestRaw(this.#transport, target, request, signal);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }
}

/** Throws a `StartupError` for a contradictory configuration. */
export function openInference(options: InferenceOptions): GatewayInference {
  return new ModelCalls(openShared(options));
}
