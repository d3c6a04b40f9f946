import type { Readable } from 'node:stream';

export type ObjectInfo = { key: string; sizeBytes: number; contentType: string; updatedAt: Date };

/** Blobs by key. Keys are `/`-separated segments of `[A-Za-z0-9._-]`, none of them `.` or `..`. */
export type Objects = {
  /** Streams the body; an existing object is replaced whole, never seen half written. */
  put(key: string, body: Readable | Uint8Array, options: { contentType: string }): Promise<ObjectInfo>;
  /** Undefined when there is none. `range` is inclusive, as in HTTP. The caller must consume or destroy `body`. */
  get(
    key: string,
    range?: { start: number; end?: number },
  ): Promise<{ info: ObjectInfo; body: Readable; contentLength: number } | undefined>;
  head(key: string): Promise<ObjectInfo | undefined>;
  /** Succeeds when there is nothing to delete. */
  delete(key: string): Promise<void>;
  /** Every object whose key starts with `prefix`, in key order. */
  list(prefix: string): AsyncIterable<ObjectInfo>;
  ping(): Promise<void>;
  close(): Promise<void>;
};
