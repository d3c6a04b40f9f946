import type { Readable } from 'node:stream';

export type ObjectInfo = { key: string; sizeBytes: number; contentType: string; updatedAt: Date };

/** An operation that a signed URL allows without a key. */
export type SignRequest = {
  method: 'GET' | 'PUT';
  key: string;
  expiresInSeconds: number;
  /** PUT: the type that must be sent */
  contentType?: string;
  /** PUT: the size that the body must have */
  sizeBytes?: number;
  /** GET: the name under which a browser saves it */
  fileName?: string;
};

export type SignedUse = Pick<SignRequest, 'key' | 'contentType' | 'sizeBytes' | 'fileName'>;

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
  /**
   * An address for one method and one object, until it expires or any part of it is changed. A path of our own server
   * where the store has none.
   */
  sign(request: SignRequest): Promise<string>;
  /** Where `sign` gives paths: what one of them allows, or undefined. Absent where the store has a server. */
  readSigned?(method: 'GET' | 'PUT', path: string): SignedUse | undefined;
  ping(): Promise<void>;
  close(): Promise<void>;
};
