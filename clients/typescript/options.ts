/** How one function of the client is sent. */
export type OperationEntry = {
  method: string;
  path: string;
  /** names in the path, in the order of the function's parameters */
  parameters: readonly string[];
  query: boolean;
  body?: 'json' | 'bytes' | 'form';
  answer: 'json' | 'bytes';
  /** may be sent again when no answer came */
  safe: boolean;
  /** takes the header `Idempotency-Key` */
  idempotencyKey: boolean;
};

export type ClientOptions = {
  /** where the service is, without `/v1` */
  baseUrl: string;
  apiKey: string;
  /** default: the runtime's own */
  fetch?: typeof fetch;
  /** further tries of a request that may be sent again; default 3 */
  maxRetries?: number;
  /** ms one try may take until its answer is read; default 120,000 */
  timeoutMs?: number;
  /** told once of fields of a body that the server ignored; default: the console */
  warn?: (message: string) => void;
};

export type CallOptions = {
  signal?: AbortSignal;
  /** names a send for 24 hours: a second one with the same key gets the first one's answer. Default: a random one. */
  idempotencyKey?: string;
  headers?: Readonly<Record<string, string>>;
};

/** The envelope of every offset-paged list. */
export type List<T> = {
  object: 'list';
  data: T[];
  pagination: { limit: number; offset: number; hasMore: boolean; total: number };
};
