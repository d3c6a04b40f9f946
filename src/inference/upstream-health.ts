import type { Breaker, BreakerState } from './breaker.ts';
import type { ProvidersConfig, UpstreamFormat } from './config.ts';
import type { ModelErrorCode } from './model.ts';
import type { ModelTable } from './providers.ts';

/** What this process has seen of a provider's models for one organization. */
export type UpstreamHealth = {
  /** the worst of its models: `open` is not called, `half_open` gets a trial call */
  breaker: BreakerState;
  /** milliseconds since the epoch */
  lastErrorAt: number | null;
  lastErrorCode: ModelErrorCode | null;
  /** time to the first part of a reply, a moving average in milliseconds */
  latencyMs: number | null;
};

export type Upstream = UpstreamHealth & {
  name: string;
  format: UpstreamFormat;
  /** whether the organization brings it itself */
  isOwn: boolean;
};

type Seen = { errorAt: number | null; code: ModelErrorCode | null; latencyMs: number | null };

/** Groups come from callers, so their number is bounded. */
const MAX_GROUPS = 5000;
/** Weight of the newest time in the average. */
const NEWEST = 0.3;
const WORST: readonly BreakerState[] = ['open', 'half_open', 'closed'];

/** The last failure and the latency of each group of models. */
export class HealthRecords {
  readonly #seen = new Map<string, Seen>();

  #change(group: string, change: (before: Seen) => Seen): void {
    const before = this.#seen.get(group) ?? { errorAt: null, code: null, latencyMs: null };
    // The groups in use stay at the end.
    this.#seen.delete(group);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size >= MAX_GROUPS && oldest !== undefined) this.#seen.delete(oldest);
    this.#seen.set(group, change(before));
  }

  noteFailure(group: string, code: ModelErrorCode): void {
    this.#change(group, (before) => ({ ...before, errorAt: Date.now(), code }));
  }

  noteLatency(group: string, ms: number): void {
    this.#change(group, (before) => {
      const { latencyMs } = before;
      return { ...before, latencyMs: latencyMs === null ? ms : latencyMs + NEWEST * (ms - latencyMs) };
    });
  }

  /** The groups whose names begin with `prefix`, as one. */
  read(prefix: string, breaker: Breaker | undefined): UpstreamHealth {
    const groups = [...this.#seen].filter(([group]) => group.startsWith(prefix));
    const states = new Set(groups.map(([group]) => breaker?.getState(group) ?? 'closed'));
    const failed = groups.map(([, seen]) => seen).filter(({ errorAt }) => errorAt !== null);
    const last = failed.toSorted((left, right) => (right.errorAt ?? 0) - (left.errorAt ?? 0))[0];
    const times = groups.flatMap(([, { latencyMs }]) => latencyMs ?? []);
    return {
      breaker: WORST.find((state) => states.has(state)) ?? 'closed',
      lastErrorAt: last?.errorAt ?? null,
      lastErrorCode: last?.code ?? null,
      latencyMs: times.length === 0 ? null : times.reduce((sum, ms) => sum + ms, 0) / times.length,
    };
  }
}

/** The providers of a table. `own`: those that the organization brings itself. */
export function listUpstreams(
  table: ModelTable,
  own: ProvidersConfig | undefined,
  readHealth: (provider: string) => UpstreamHealth,
): Upstream[] {
  return table.listProviders().flatMap((name) => {
    const format = table.findProvider(name)?.format;
    if (format === undefined) return [];
    return { name, format, isOwn: own !== undefined && Object.hasOwn(own, name), ...readHealth(name) };
  });
}
