import type { ModelsConfig, RouteEntry, Routing } from './config.ts';
import type { ModelEntry } from './model-entry.ts';
import { orderByDraw, orderByKey } from './affinity.ts';

/** One model of a route, with the configured retry count and weight, if any. */
export type RoutedEntry = ModelEntry & { weight?: number | undefined; attempts?: number | undefined };

/** The models behind a name, in the order of the configuration; empty if no provider serves it. */
export type Route = { entries: RoutedEntry[]; routing: Routing; fallbackOnContentPolicy: boolean };

type CallFields = {
  extraBody?: Record<string, unknown> | undefined;
  extraHeaders?: Record<string, string> | undefined;
};

function addCallFields(entry: ModelEntry, { extraBody, extraHeaders }: CallFields): ModelEntry {
  const { target } = entry;
  if (target === undefined || (extraBody === undefined && extraHeaders === undefined)) return entry;
  return {
    ...entry,
    target: {
      ...target,
      ...(extraBody === undefined ? {} : { extraBody: { ...target.extraBody, ...extraBody } }),
      ...(extraHeaders === undefined ? {} : { headers: { ...target.headers, ...extraHeaders } }),
    },
  };
}

function addEntryOptions(found: ModelEntry, item: Exclude<RouteEntry, string>, shared: CallFields): RoutedEntry {
  const { weight, timeoutSeconds, retries } = item;
  const entry = addCallFields(addCallFields(found, shared), item);
  const timed =
    timeoutSeconds === undefined || entry.target === undefined
      ? entry
      : { ...entry, target: { ...entry.target, timeoutMs: timeoutSeconds * 1000 } };
  return { ...timed, weight, attempts: retries === undefined ? undefined : retries + 1 };
}

/** `findEntry` throws for a model that does not exist. */
export function buildRoute(config: ModelsConfig[string], findEntry: (model: string) => ModelEntry): Route {
  const options =
    typeof config === 'string' ? { models: [config] } : Array.isArray(config) ? { models: config } : config;
  const shared = Array.isArray(config) || typeof config === 'string' ? {} : config;
  const entries = options.models.map((item) => {
    const full = typeof item === 'string' ? { model: item } : item;
    return addEntryOptions(findEntry(full.model), full, shared);
  });
  const { routing = 'order', fallbackOn = [] } = 'routing' in options ? options : {};
  return { entries, routing, fallbackOnContentPolicy: fallbackOn.includes('content_policy') };
}

/** Joins several routes into one, tried in sequence. */
export function joinRoutes(routes: readonly Route[]): Route {
  const [first] = routes;
  if (routes.length === 1 && first !== undefined) return first;
  const entries = new Map<string, RoutedEntry>();
  for (const entry of routes.flatMap((route) => route.entries)) {
    if (!entries.has(entry.info.name)) entries.set(entry.info.name, entry);
  }
  return {
    entries: [...entries.values()],
    routing: 'order',
    fallbackOnContentPolicy: routes.some((route) => route.fallbackOnContentPolicy),
  };
}

/** Weight of the newest time in the average. */
const NEWEST = 0.3;
/** Maximum number of upstreams with recorded times; callers choose names if a provider lists none. */
const MAX_NAMES = 5000;

/** Times to the first part of a reply, as moving averages. */
export class Latencies {
  readonly #averages = new Map<string, number>();

  note(name: string, ms: number): void {
    const before = this.#averages.get(name);
    const [oldest] = this.#averages.keys();
    if (before === undefined && this.#averages.size >= MAX_NAMES && oldest !== undefined) this.#averages.delete(oldest);
    this.#averages.set(name, before === undefined ? ms : before + NEWEST * (ms - before));
  }

  /** The fastest first. Upstreams without a time come before all others. */
  order<T extends { name: string }>(items: readonly T[]): T[] {
    const average = ({ name }: T) => this.#averages.get(name) ?? -1;
    return items.toSorted((a, b) => average(a) - average(b));
  }
}

/** Share of calls that try an upstream other than the fastest first, to measure it. */
const EXPLORE = 0.05;

/** The order in which one call tries the candidates. */
export function orderCandidates<T extends { name: string; weight?: number | undefined }>(
  candidates: readonly T[],
  { routing, latencies, affinityKey }: { routing: Routing; latencies: Latencies; affinityKey: string | undefined },
): readonly T[] {
  if (candidates.length < 2) return candidates;
  if (affinityKey !== undefined) return orderByKey(affinityKey, candidates);
  if (routing === 'weighted') return orderByDraw(candidates, () => 1 - Math.random());
  if (routing !== 'latency') return candidates;
  return Math.random() < EXPLORE ? orderByDraw(candidates, () => 1 - Math.random()) : latencies.order(candidates);
}
