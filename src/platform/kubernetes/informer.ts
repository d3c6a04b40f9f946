import { setTimeout as sleep } from 'node:timers/promises';
import type { ResourceMeta } from './resource.ts';
import { errorText } from '../errors.ts';
import type { Logger } from '../log.ts';
import { hasStatus } from './client.ts';
import type { Kubernetes } from './client.ts';

/** As text a pod is 7 KB; what is parsed at once holds up everything else, and is garbage right after. */
const PAGE = '100';
const RELIST_MS = 10 * 60_000;
/** A watch that ends sooner is no good one, whatever its status. */
const SHORT_MS = 1000;
const BACKOFF_MS = { first: 200, most: 30_000 };

export type Informer<T> = {
  get(name: string): T | undefined;
  list(): T[];
  /** the objects to which the index of this name gives this value */
  find(index: string, value: string): T[];
  /** Told after the cache holds the change; undefined: it is gone. What it throws is logged and goes no further. */
  onChange(handler: (name: string, object: T | undefined, before: T | undefined) => void): void;
  /** Resolves when the first list is in the cache. */
  synced: Promise<void>;
  close(): Promise<void>;
};

export type InformerOptions<T> = {
  kubernetes: Kubernetes;
  /** of the list, as `buildListPath` gives it */
  path: string;
  labelSelector?: string;
  /** What is kept of an object; a cache of whole pods is twenty times as big. */
  strip: (object: T) => T;
  /** what to find objects by, by the index's name; undefined leaves an object out */
  indexes?: Record<string, (object: T) => string | undefined>;
  log: Logger;
  relistMs?: number;
};

type Page<T> = { metadata: { resourceVersion: string; continue?: string }; items: T[] };

/**
 * A cache of a kind that follows the API server through errors of every sort: it lists in pages, watches from there on,
 * lists anew when its version is too old and every ten minutes besides, and waits longer after each failure in a row.
 */
export function startInformer<T extends { metadata: ResourceMeta }>(options: InformerOptions<T>): Informer<T> {
  const { kubernetes, path, log } = options;
  const query: Record<string, string> =
    options.labelSelector === undefined ? {} : { labelSelector: options.labelSelector };
  const objects = new Map<string, T>();
  const indexes = new Map(
    Object.entries(options.indexes ?? {}).map(([name, by]) => [name, { by, values: new Map<string, Set<string>>() }]),
  );
  const handlers: Parameters<Informer<T>['onChange']>[0][] = [];
  const stop = new AbortController();
  const synced = Promise.withResolvers<void>();
  let failures = 0;

  const index = (name: string, object: T | undefined, present: boolean): void => {
    for (const { by, values } of indexes.values()) {
      const value = object === undefined ? undefined : by(object);
      if (value === undefined) continue;
      const names = values.get(value) ?? new Set();
      if (present) names.add(name);
      else names.delete(name);
      if (names.size === 0) values.delete(value);
      else values.set(value, names);
    }
  };

  const put = (name: string, object: T | undefined): void => {
    const before = objects.get(name);
    if (before === undefined && object === undefined) return;
    if (object !== undefined && before?.metadata.resourceVersion === object.metadata.resourceVersion) return;
    index(name, before, false);
    if (object === undefined) objects.delete(name);
    else objects.set(name, object);
    index(name, object, true);
    for (const handler of handlers) {
      try {
        handler(name, object, before);
      } catch (error) {
        log.error({ path, name, error: errorText(error) }, 'a handler of changes failed');
      }
    }
  };

  const list = async (): Promise<string> => {
    const seen = new Set<string>();
    let token: string | undefined;
    for (;;) {
      const paging: Record<string, string> = token === undefined ? { limit: PAGE } : { limit: PAGE, continue: token };
      const page = await kubernetes.request<Page<T>>({
        method: 'GET',
        path,
        query: { ...query, ...paging },
        signal: stop.signal,
      });
      for (const item of page.items) {
        seen.add(item.metadata.name);
        put(item.metadata.name, options.strip(item));
      }
      token = page.metadata.continue;
      if (token !== undefined && token !== '') continue;
      for (const name of objects.keys()) if (!seen.has(name)) put(name, undefined);
      synced.resolve();
      return page.metadata.resourceVersion;
    }
  };

  const run = async (): Promise<void> => {
    let version: string | undefined;
    let listedMs = 0;
    while (!stop.signal.aborted) {
      try {
        if (version === undefined || Date.now() - listedMs > (options.relistMs ?? RELIST_MS)) {
          version = await list();
          listedMs = Date.now();
        }
        const from = { ...query, resourceVersion: version, allowWatchBookmarks: 'true' };
        const begunMs = Date.now();
        for await (const { type, object } of kubernetes.watch(path, from, stop.signal)) {
          failures = 0;
          const item = object as T;
          version = item.metadata.resourceVersion;
          if (type === 'DELETED') put(item.metadata.name, undefined);
          else if (type === 'ADDED' || type === 'MODIFIED') put(item.metadata.name, options.strip(item));
        }
        if (Date.now() - begunMs < SHORT_MS) throw new Error('the server ended it at once');
      } catch (error) {
        if (stop.signal.aborted) return;
        if (hasStatus(error, 410)) version = undefined;
        failures += 1;
        const most = Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** (failures - 1));
        log.warn({ path, error: errorText(error), failures }, 'a watch broke off');
        await sleep(most * (0.5 + Math.random() / 2), undefined, { signal: stop.signal }).catch(() => undefined);
      }
    }
  };
  const running = run();

  return {
    get: (name) => objects.get(name),
    list: () => [...objects.values()],
    find: (index, value) =>
      [...(indexes.get(index)?.values.get(value) ?? [])].flatMap((name) => objects.get(name) ?? []),
    onChange: (handler) => void handlers.push(handler),
    synced: synced.promise,
    async close() {
      stop.abort();
      await running;
    },
  };
}
