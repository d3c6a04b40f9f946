import { ApiError, ConnectionError, describeCause, readApiError } from './errors.ts';
import type { ClientOptions } from './options.ts';

export type SentBody = NonNullable<RequestInit['body']>;

export type Outgoing = {
  method: string;
  /** with its query */
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: SentBody;
  /** may be sent again when no answer came */
  safe: boolean;
  /** the body cannot be read a second time */
  once?: boolean;
  signal: AbortSignal | undefined;
};

const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 8000;
const LONGEST_WAIT_SECONDS = 60;
const TIMEOUT_MS = 120_000;
const MAX_RETRIES = 3;

/** Resolves early when the signal aborts; the caller looks at it. */
export async function pauseFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal?.aborted === true) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}

const warned = new WeakSet<ClientOptions>();

/** Says once for each client that the server does not know fields of a body: they may be misspelt. */
function warnOfIgnoredFields(options: ClientOptions, { method, path }: Outgoing, response: Response): void {
  const fields = response.headers.get('x-capstan-ignored-fields');
  if (fields === null || warned.has(options)) return;
  warned.add(options);
  const { warn = (message: string) => globalThis.console.warn(message) } = options;
  warn(`Capstan ignored unknown fields of ${method} ${path.split('?')[0] ?? path}: ${fields}`);
}

/** One try. `read` belongs to it: until it has ended, the time runs. */
export async function sendOnce<T>(
  options: ClientOptions,
  outgoing: Outgoing,
  timeoutMs: number,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const base = options.baseUrl.replace(/(?<!\/)\/+$/, '');
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  try {
    const response = await (options.fetch ?? fetch)(base + outgoing.path, {
      method: outgoing.method,
      headers: { ...outgoing.headers, 'x-api-key': options.apiKey },
      ...(outgoing.body === undefined ? {} : { body: outgoing.body }),
      ...(outgoing.once === true ? { duplex: 'half' } : {}),
      // The caller's also ends a body that is read later.
      signal: outgoing.signal === undefined ? limit.signal : AbortSignal.any([outgoing.signal, limit.signal]),
    });
    if (!response.ok) throw await readApiError(response);
    warnOfIgnoredFields(options, outgoing, response);
    return await read(response);
  } catch (error) {
    if (outgoing.signal?.aborted === true) throw outgoing.signal.reason;
    if (error instanceof ApiError) throw error;
    throw new ConnectionError(`No answer of ${base} (${describeCause(error)}).`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** What is refused for its rate has not been done, so it may always be sent again; anything else only where that is safe. */
function mayRetry(error: unknown, { safe, once }: Outgoing): boolean {
  if (once === true) return false;
  if (error instanceof ConnectionError) return safe;
  if (!(error instanceof ApiError) || !error.retryable) return false;
  if (error.status === 429) return (error.retryAfterSeconds ?? 0) <= LONGEST_WAIT_SECONDS;
  return safe && (error.status === 502 || error.status === 503 || error.status === 504);
}

/** Sends a request, again where that is safe, with growing pauses or those that the server asks for. */
export async function send<T>(
  options: ClientOptions,
  outgoing: Outgoing,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const { maxRetries = MAX_RETRIES, timeoutMs = TIMEOUT_MS } = options;
  for (let failures = 0; ; failures += 1) {
    try {
      return await sendOnce(options, outgoing, timeoutMs, read);
    } catch (error) {
      if (failures >= maxRetries || !mayRetry(error, outgoing)) throw error;
      const backoff = Math.min(FIRST_PAUSE_MS * 2 ** failures, LAST_PAUSE_MS) * (0.75 + Math.random() / 2);
      const asked = error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
      await pauseFor(Math.max(backoff, asked), outgoing.signal);
      if (outgoing.signal?.aborted === true) throw outgoing.signal.reason;
    }
  }
}
