import { setTimeout as delay } from 'node:timers/promises';
import { omitUndefined } from '../../../platform/records.ts';
import { RenderError } from '../engine.ts';

/** A response of an engine's API: the status, and the body if it is JSON. */
export type Reply = { status: number; body: unknown };

export type Call = {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  json?: unknown;
  form?: FormData;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /**
   * `harmless`: always retried. `accepting`: starts work that may cost money, so it is retried only if the work has certainly
   * not started: after 429 or 503, or when there was no connection.
   */
  effect: 'harmless' | 'accepting';
};

export type TransportOptions = {
  baseUrl: string;
  /** sent to the engine's own address only */
  apiKey?: string | undefined;
  timeoutMs: number;
  /** the first wait, doubled for each retry; default 1 s */
  retryMs: number | undefined;
};

/** Calls one engine at its configured base URL. */
export type Transport = {
  /** Resolves with a 2xx or 4xx reply. Throws a `RenderError` if the engine is unreachable or stays busy, or the signal's reason. */
  call(path: string, call: Call): Promise<Reply>;
  /** The raw response of any status, for results. */
  open(path: string, signal: AbortSignal): Promise<Response>;
  /** The path of a URL from the engine relative to the base URL; undefined for any other URL. */
  findPath(url: unknown): string | undefined;
};

const ATTEMPTS = 6;
const MAX_WAIT_MS = 60_000;
/** A download may take longer than an API call by this factor. */
export const DOWNLOAD_FACTOR = 10;
const MAX_BODY = 64 * 1024 * 1024;
/** Error codes of connections that failed before a byte was sent. */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'EHOSTUNREACH']);

/** `scheme` is the word before the key in the header `authorization`. */
export function buildTransport(
  { baseUrl, apiKey, timeoutMs, retryMs = 1000 }: TransportOptions,
  scheme: 'Bearer' | 'Key' = 'Bearer',
): Transport {
  const headers: Record<string, string> = apiKey === undefined ? {} : { authorization: `${scheme} ${apiKey}` };
  const request = async (path: string, call: Call, factor = 1): Promise<Response> => {
    const { method = 'GET', json, form, signal } = call;
    const timeout = AbortSignal.timeout(timeoutMs * factor);
    // The key must not be sent to the target of a redirect.
    return await fetch(`${baseUrl}${path}`, {
      method,
      redirect: 'error',
      headers: { ...headers, ...call.headers, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      ...omitUndefined({ body: form }),
    });
  };

  const attempt = async (path: string, call: Call): Promise<Reply | Failure> => {
    try {
      const response = await request(path, call);
      const busy = response.status === 429 || response.status === 503;
      const reply = { status: response.status, body: await readJson(response) };
      if (response.status < 500 && !busy) return reply;
      const again = busy || call.effect === 'harmless';
      return { again, waitMs: readRetryAfter(response), error: buildUnavailable(busy) };
    } catch (error) {
      call.signal?.throwIfAborted();
      if (error instanceof RenderError) throw error;
      const again = call.effect === 'harmless' || NOT_SENT.has(readCode(error));
      return { again, waitMs: undefined, error: buildUnreachable(error) };
    }
  };

  return {
    async call(path, call) {
      for (let tries = 1; ; tries += 1) {
        const outcome = await attempt(path, call);
        if ('status' in outcome) return outcome;
        if (!outcome.again || tries >= ATTEMPTS) throw outcome.error;
        const wait = Math.min(MAX_WAIT_MS, outcome.waitMs ?? retryMs * 2 ** (tries - 1));
        await delay(wait, undefined, call.signal === undefined ? {} : { signal: call.signal }).catch(() =>
          call.signal?.throwIfAborted(),
        );
      }
    },
    open: (path, signal) => request(path, { effect: 'harmless', signal }, DOWNLOAD_FACTOR),
    findPath(url) {
      const found = typeof url === 'string' ? URL.parse(url) : null;
      const base = new URL(baseUrl);
      const root = base.pathname.replace(/\/$/, '');
      if (found === null || found.origin !== base.origin || !found.pathname.startsWith(`${root}/`)) return undefined;
      return found.pathname.slice(root.length) + found.search;
    },
  };
}

type Failure = { again: boolean; waitMs: number | undefined; error: RenderError };

async function readJson(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += (chunk as Uint8Array).byteLength;
    if (bytes > MAX_BODY) throw new RenderError('engine_error', 'The response of the engine is too large.');
    chunks.push(chunk as Uint8Array);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}

/** Parses seconds or a date; undefined for anything else. */
function readRetryAfter(response: Response): number | undefined {
  const text = response.headers.get('retry-after');
  if (text === null) return undefined;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

function readCode(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : '';
}

function buildUnavailable(busy: boolean): RenderError {
  return new RenderError('engine_error', busy ? 'The engine is overloaded.' : 'The engine failed.');
}

function buildUnreachable(cause: unknown): RenderError {
  const late = cause instanceof Error && cause.name === 'TimeoutError';
  return late
    ? new RenderError('timeout', 'The engine did not answer in time.', { cause })
    : new RenderError('engine_error', 'The engine could not be reached.', { cause });
}
