import type { Logger } from '../platform/log.ts';
import { DEFAULT_BREAKER, buildBreaker } from './breaker.ts';
import type { Breaker, BreakerPolicy } from './breaker.ts';
import { ModelError } from './model.ts';
import type { ModelRequest } from './model.ts';
import type { CallObserver, Candidate } from './retry.ts';
import { Latencies, orderCandidates } from './routing.ts';
import type { Route } from './routing.ts';
import { HealthRecords } from './upstream-health.ts';
import type { UpstreamHealth } from './upstream-health.ts';

export type RouterOptions = {
  log: Logger;
  /** absent: no circuit breaker */
  breaker?: Partial<BreakerPolicy>;
  /** whether calls with the same `cacheKey` try the same upstream of a list first */
  affinity?: boolean;
};

/** The routing fields of one call. */
export type RoutedCall = { request: ModelRequest; organization: string | undefined };

/** Decides which upstreams a call tries and in what order, and records their results. */
export class Router {
  readonly #options: Pick<RouterOptions, 'log' | 'affinity'>;
  readonly #named: ReadonlySet<string>;
  readonly #breaker: Breaker | undefined;
  readonly #latencies = new Latencies();
  readonly #health = new HealthRecords();

  constructor({ log, affinity = false, breaker }: RouterOptions, named: ReadonlySet<string>) {
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
   * The candidates to try, in order. An only candidate is always tried. With several, throws `unavailable` if the
   * breakers of all are open.
   */
  choose<T extends Candidate<unknown> & { weight?: number | undefined }>(
    candidates: readonly T[],
    { routing }: Route,
    { request, organization }: RoutedCall,
  ): readonly T[] {
    if (candidates.length < 2) return candidates;
    const affinityKey = this.#options.affinity === true ? request.cacheKey : undefined;
    // A caller that lists models sets their order.
    const order = request.fallbackModels === undefined ? affinityKey : undefined;
    const ordered = orderCandidates(candidates, { routing, latencies: this.#latencies, affinityKey: order });
    const breaker = this.#breaker;
    if (breaker === undefined) return ordered;
    const allowed = ordered.filter(({ name }) => breaker.allows(this.getGroup(name, organization)));
    if (allowed.length > 0) return allowed;
    const retryAfterMs = breaker.retryAfterMs(ordered.map(({ name }) => this.getGroup(name, organization)));
    throw new ModelError('unavailable', 'Every provider of this model is failing.', { retryAfterMs });
  }

  /** What the calls of an organization have shown of a provider, in this process. */
  readHealth(provider: string, organization = ''): UpstreamHealth {
    return this.#health.read(`${organization}\n${provider}/`, this.#breaker);
  }

  watch(organization: string | undefined): CallObserver {
    return {
      failed: ({ name, attempt, error, waitMs }) => {
        // The message may quote the caller's request, so it is not logged.
        const { code: fault, status } = error;
        this.#options.log.warn({ model: name, attempt, fault, status, waitMs }, 'model call failed');
        const group = this.getGroup(name, organization);
        this.#health.noteFailure(group, fault);
        if (waitMs === undefined) this.#breaker?.fail(group, fault);
      },
      begun: (name, ms) => {
        const group = this.getGroup(name, organization);
        this.#breaker?.succeed(group);
        this.#latencies.note(name, ms);
        this.#health.noteLatency(group, ms);
      },
    };
  }
}
