import type { RequestOptions } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpMethod, KubeConfig, RequestContext } from '@kubernetes/client-node';
import { Agent, request } from 'undici';
import type { Dispatcher } from 'undici';
import { sha256 } from '../crypto.ts';
import { StartupError, errorText } from '../errors.ts';

/** Rotated tokens and certificates are taken up within this time; until then connections are kept. */
const CREDENTIALS_MS = 30_000;
const CALL_TIMEOUT_MS = 30_000;
const CLOSE_MS = 1000;
/** The server ends a watch after this time, and it is begun again where it ended. */
const WATCH_SECONDS = 28;
/** Of silence: the connection is dead, whatever TCP says. */
const WATCH_SILENCE_MS = 35_000;

/** What the API server refuses. `status` is HTTP's, `reason` Kubernetes' (`NotFound`, `Conflict`, `AlreadyExists`…). */
export class KubernetesError extends Error {
  override readonly name = 'KubernetesError';
  readonly status: number;
  readonly reason: string;
  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

export function hasStatus(error: unknown, ...statuses: number[]): boolean {
  return error instanceof KubernetesError && statuses.includes(error.status);
}

export type Call = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string>;
  body?: unknown;
  /** of the body; a merge patch unless told, for PATCH */
  contentType?: string;
  signal?: AbortSignal;
};

export type WatchEvent = { type: string; object: unknown };

export type Kubernetes = {
  /** The namespace of the kubeconfig's context, or of the pod that this process runs in. */
  namespace: string | undefined;
  /** JSON as it came: times are text. Throws `KubernetesError`, or the connection's error. */
  request<T>(call: Call): Promise<T>;
  /** Until the server ends it. Throws `KubernetesError` (410: list anew) and on a connection that is silent for 35 s. */
  watch(path: string, query: Record<string, string>, signal: AbortSignal): AsyncGenerator<WatchEvent>;
  close(): Promise<void>;
};

type Body = Dispatcher.ResponseData['body'];
type Access = {
  identity: string;
  headers: Record<string, string>;
  dispatcher: Dispatcher | undefined;
  takenMs: number;
};

/** From the kubeconfig named, else from the pod that this runs in, else from where kubectl looks. Throws `StartupError`. */
export function openKubernetes(options: { kubeconfig?: string } = {}): Kubernetes {
  const config = new KubeConfig();
  try {
    if (options.kubeconfig === undefined) config.loadFromDefault();
    else config.loadFromFile(options.kubeconfig);
  } catch (error) {
    throw new StartupError(`Kubernetes cannot be reached: ${errorText(error)}`);
  }
  const server = config.getCurrentCluster()?.server;
  if (server === undefined) throw new StartupError('Kubernetes cannot be reached: the kubeconfig names no cluster.');
  // The library makes a dispatcher, and so a TLS handshake, for each request; two are kept instead, so that events
  // do not wait behind writes on one connection.
  const kept = new Map<'calls' | 'watches', Access>();

  const access = async (use: 'calls' | 'watches'): Promise<Access> => {
    const known = kept.get(use);
    if (known !== undefined && Date.now() - known.takenMs < CREDENTIALS_MS) return known;
    const context = new RequestContext(server, HttpMethod.GET);
    await config.applySecurityAuthentication(context);
    const headers = context.getHeaders();
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername } = options;
    const tls = Object.fromEntries(
      Object.entries({ ca, cert, key, pfx, passphrase, rejectUnauthorized, servername }).filter(
        ([, value]) => value !== undefined,
      ),
    );
    const identity = sha256(JSON.stringify([headers, tls]));
    if (known?.identity === identity) {
      known.takenMs = Date.now();
      return known;
    }
    // HTTP/2 would have all share one connection; only through a proxy the library's own dispatcher is taken.
    const isDirect = config.getCurrentCluster()?.proxyUrl === undefined;
    const own = (): Dispatcher => new Agent({ allowH2: false, connect: { ...tls, keepAlive: true } });
    const dispatcher = isDirect ? own() : context.getDispatcher();
    void known?.dispatcher?.close();
    const taken = { identity, headers, dispatcher, takenMs: Date.now() };
    kept.set(use, taken);
    return taken;
  };

  const send = async (use: 'calls' | 'watches', call: Call, signal: AbortSignal): Promise<Body> => {
    const { headers, dispatcher } = await access(use);
    const query = call.query === undefined ? '' : `?${new URLSearchParams(call.query).toString()}`;
    const type = call.contentType ?? (call.method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
    const { statusCode, body } = await request(`${server}${call.path}${query}`, {
      method: call.method,
      headers: { ...headers, accept: 'application/json', ...(call.body === undefined ? {} : { 'content-type': type }) },
      signal,
      // The signal holds the clock: a watch may be silent for longer than the library's own limits.
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      ...(dispatcher === undefined ? {} : { dispatcher }),
    });
    if (statusCode >= 400) throw await readError(statusCode, body);
    return body;
  };

  return {
    namespace: config.getContextObject(config.getCurrentContext())?.namespace,
    async request<T>(call: Call): Promise<T> {
      const timeout = AbortSignal.timeout(CALL_TIMEOUT_MS);
      const signal = call.signal === undefined ? timeout : AbortSignal.any([timeout, call.signal]);
      return (await (await send('calls', call, signal)).json()) as T;
    },
    async *watch(path, query, signal) {
      const silence = new AbortController();
      const timer = setTimeout(() => silence.abort(new Error('no sign of life')), WATCH_SILENCE_MS);
      timer.unref();
      try {
        const call: Call = {
          method: 'GET',
          path,
          query: { ...query, watch: 'true', timeoutSeconds: `${WATCH_SECONDS}` },
        };
        const body = await send('watches', call, AbortSignal.any([signal, silence.signal]));
        for await (const line of readLines(body, () => timer.refresh())) yield readEvent(line);
      } finally {
        clearTimeout(timer);
        silence.abort();
      }
    },
    async close() {
      // Whoever uses this has ended what it began, so there is nothing to wait for but the connections themselves.
      const closing = [...kept.values()].map(async ({ dispatcher }) => dispatcher?.close());
      await Promise.race([Promise.all(closing), sleep(CLOSE_MS, undefined, { ref: false })]);
    },
  };
}

async function* readLines(body: Body, onData: () => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    onData();
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line !== '');
  }
}

type Status = { code?: number; reason?: string; message?: string };

function readEvent(line: string): WatchEvent {
  const event = JSON.parse(line) as WatchEvent;
  if (event.type !== 'ERROR') return event;
  const { code, reason, message } = event.object as Status;
  throw new KubernetesError(code ?? 500, reason ?? 'Unknown', message ?? 'the watch failed');
}

async function readError(status: number, body: Body): Promise<KubernetesError> {
  const text = await body.text().catch(() => '');
  try {
    const { reason, message } = JSON.parse(text) as Status;
    return new KubernetesError(status, reason ?? 'Unknown', message ?? text);
  } catch {
    return new KubernetesError(status, 'Unknown', text.slice(0, 500) || `status ${status}`);
  }
}
