import { setTimeout as sleep } from 'node:timers/promises';
import type { ResourceMeta } from './resource.ts';
import { errorText } from '../errors.ts';
import type { Logger } from '../log.ts';
import { omitUndefined } from '../records.ts';
import { hasStatus } from './client.ts';
import type { Kubernetes } from './client.ts';

/** A pod is 7 KB of JSON. A larger page would block the event loop while it is parsed. */
const PAGE_LIMIT = '100';
const RELIST_MS = 10 * 60_000;
/** A watch that ends sooner counts as failed. */
const MIN_WATCH_MS = 1000;
const BACKOFF_MS = { first: 200, max: 30_000 };

export type Informer<T> = {
  get(name: string): T | undefined;
  list(): T[];
  /** the objects with this value in the named index */
  find(index: string, value: string): T[];
  /** Called after the cache holds the change; `object` is undefined when deleted. Errors of the handler are logged. */
  onChange(handler: (name: string, object: T | undefined, before: T | undefined) => void): void;
  /** Resolves when the cache holds the first complete list. */
  synced: Promise<void>;
  close(): Promise<void>;
};

export type InformerOptions<T> = {
  kubernetes: Kubernetes;
  /** of the list, from `buildListPath` */
  path: string;
  labelSelector?: string;
  /** Keeps the needed fields of an object; a cache of whole pods would be twenty times as big. */
  strip: (object: T) => T;
  /** by name of the index: the value to index an object by; undefined leaves it out */
  indexes?: Record<string, (object: T) => string | undefined>;
  log: Logger;
  relistMs?: number;
};

type Page<T> = { metadata: { resourceVersion: string; continue?: string }; items: T[] };

/**
 * A cache of one kind. It lists in pages, watches from that version on, and lists again when the version has expired and
 * every ten minutes. Retries every failure with exponential backoff.
 */
export function startInformer<T extends { metadata: ResourceMeta }>(options: InformerOptions<T>): Informer<T> {
  const cache = new IndexedCache<T>(options);
  const reflector = new Reflector<T>(options, cache);
  const running = reflector.run();
  return {
    get: (name) => cache.get(name),
    list: () => cache.list(),
    find: (index, value) => cache.find(index, value),
    onChange: (handler) => cache.onChange(handler),
    synced: reflector.synced,
    async close() {
      reflector.stop();
      await running;
    },
  };
}

type Handler<T> = Parameters<Informer<T>['onChange']>[0];

class IndexedCache<T extends { metadata: ResourceMeta }> {
  readonly #path: string;
  readonly #log: Logger;
  readonly #objects = new Map<string, T>();
  readonly #indexes: Map<string, { by: (object: T) => string | undefined; values: Map<string, Set<string>> }>;
  readonly #handlers: Handler<T>[] = [];

  constructor({ path, log, indexes = {} }: InformerOptions<T>) {
    this.#path = path;
    this.#log = log;
    this.#indexes = new Map(Object.entries(indexes).map(([name, by]) => [name, { by, values: new Map() }]));
  }

  get(name: string): T | undefined {
    return this.#objects.get(name);
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  names(): string[] {
    return [...this.#objects.keys()];
  }

  find(index: string, value: string): T[] {
    const names = this.#indexes.get(index)?.values.get(value) ?? [];
    return [...names].flatMap((name) => this.#objects.get(name) ?? []);
  }

  onChange(handler: Handler<T>): void {
    this.#handlers.push(handler);
  }

  /** Stores the object, or deletes it when undefined, and calls the handlers if anything changed. */
  put(name: string, object: T | undefined): void {
    const before = this.#objects.get(name);
    if (before === undefined && object === undefined) return;
    if (object !== undefined && before?.metadata.resourceVersion === object.metadata.resourceVersion) return;
    if (before !== undefined) this.#unindex(name, before);
    if (object === undefined) {
      this.#objects.delete(name);
    } else {
      this.#objects.set(name, object);
      this.#index(name, object);
    }
    for (const handler of this.#handlers) {
      try {
        handler(name, object, before);
      } catch (error) {
        this.#log.error({ path: this.#path, name, error: errorText(error) }, 'a change handler failed');
      }
    }
  }

  #index(name: string, object: T): void {
    for (const { by, values } of this.#indexes.values()) {
      const value = by(object);
      if (value === undefined) continue;
      const names = values.get(value) ?? new Set();
      values.set(value, names.add(name));
    }
  }

  #unindex(name: string, object: T): void {
    for (const { by, values } of this.#indexes.values()) {
      const value = by(object);
      const names = value === undefined ? undefined : values.get(value);
      names?.delete(name);
      if (value !== undefined && names?.size === 0) values.delete(value);
    }
  }
}

/** Follows the API server and fills the cache. */
class Reflector<T extends { metadata: ResourceMeta }> {
  readonly synced: Promise<void>;
  readonly #options: InformerOptions<T>;
  readonly #cache: IndexedCache<T>;
  readonly #query: Record<string, string>;
  readonly #stop = new AbortController();
  readonly #onSynced: () => void;
  /** to watch from; undefined: list first */
  #version: string | undefined;
  #listedMs = 0;
  #failures = 0;

  constructor(options: InformerOptions<T>, cache: IndexedCache<T>) {
    this.#options = options;
    this.#cache = cache;
    this.#query = omitUndefined({ labelSelector: options.labelSelector });
    const synced = Promise.withResolvers<void>();
    this.synced = synced.promise;
    this.#onSynced = synced.resolve;
  }

  stop(): void {
    this.#stop.abort();
  }

  async run(): Promise<void> {
    const { path, log } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#listIfDue();
        await this.#watch();
      } catch (error) {
        if (signal.aborted) return;
        // 410: the version has expired.
        if (hasStatus(error, 410)) this.#version = undefined;
        this.#failures += 1;
        log.warn({ path, error: errorText(error), failures: this.#failures }, 'watch failed; will retry');
        const delayMs = Math.min(BACKOFF_MS.max, BACKOFF_MS.first * 2 ** (this.#failures - 1));
        await sleep(delayMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #listIfDue(): Promise<void> {
    const { relistMs = RELIST_MS } = this.#options;
    if (this.#version !== undefined && Date.now() - this.#listedMs <= relistMs) return;
    this.#version = await this.#list();
    this.#listedMs = Date.now();
  }

  /** Returns the version to watch from. */
  async #list(): Promise<string> {
    const { kubernetes, path, strip } = this.#options;
    const seen = new Set<string>();
    let token: string | undefined;
    for (;;) {
      const query = { ...this.#query, limit: PAGE_LIMIT, ...omitUndefined({ continue: token }) };
      const page = await kubernetes.request<Page<T>>({ method: 'GET', path, query, signal: this.#stop.signal });
      for (const item of page.items) {
        seen.add(item.metadata.name);
        this.#cache.put(item.metadata.name, strip(item));
      }
      token = page.metadata.continue;
      if (token !== undefined && token !== '') continue;
      for (const name of this.#cache.names()) if (!seen.has(name)) this.#cache.put(name, undefined);
      this.#onSynced();
      return page.metadata.resourceVersion;
    }
  }

  async #watch(): Promise<void> {
    const { kubernetes, path, strip } = this.#options;
    const query = { ...this.#query, resourceVersion: this.#version ?? '', allowWatchBookmarks: 'true' };
    const startedMs = Date.now();
    for await (const { type, object } of kubernetes.watch(path, query, this.#stop.signal)) {
      this.#failures = 0;
      const item = object as T;
      const { name, resourceVersion } = item.metadata;
      this.#version = resourceVersion;
      if (type === 'DELETED') this.#cache.put(name, undefined);
      else if (type === 'ADDED' || type === 'MODIFIED') this.#cache.put(name, strip(item));
    }
    if (Date.now() - startedMs < MIN_WATCH_MS) throw new Error('the server ended the watch at once');
  }
}
