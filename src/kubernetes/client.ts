import { HttpMethod, KubeConfig, RequestContext } from '@kubernetes/client-node';
import { fetch } from 'undici';
import type { Dispatcher, Response } from 'undici';
import { StartupError, errorText } from '../errors.ts';

/** Rotated tokens and certificates are taken up within this time; until then connections are kept. */
const CREDENTIALS_MS = 30_000;
const CALL_TIMEOUT_MS = 30_000;
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

type Access = { headers: Record<string, string>; dispatcher: Dispatcher | undefined; takenMs: number };

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
    const same = known !== undefined && JSON.stringify(known.headers) === JSON.stringify(headers);
    const dispatcher = same ? known.dispatcher : context.getDispatcher();
    const taken = { headers, dispatcher, takenMs: Date.now() };
    kept.set(use, taken);
    return taken;
  };

  const send = async (use: 'calls' | 'watches', call: Call, signal: AbortSignal): Promise<Response> => {
    const { headers, dispatcher } = await access(use);
    const query = call.query === undefined ? '' : `?${new URLSearchParams(call.query).toString()}`;
    const type = call.contentType ?? (call.method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
    const response = await fetch(`${server}${call.path}${query}`, {
      method: call.method,
      headers: { ...headers, accept: 'application/json', ...(call.body === undefined ? {} : { 'content-type': type }) },
      signal,
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      ...(dispatcher === undefined ? {} : { dispatcher }),
    });
    if (!response.ok) throw await readError(response);
    return response;
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
        const response = await send('watches', call, AbortSignal.any([signal, silence.signal]));
        for await (const line of readLines(response, () => timer.refresh())) yield readEvent(line);
      } finally {
        clearTimeout(timer);
        silence.abort();
      }
    },
    async close() {
      for (const { dispatcher } of kept.values()) await dispatcher?.destroy();
    },
  };
}

async function* readLines(response: Response, onData: () => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body ?? []) {
    onData();
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
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

async function readError(response: Response): Promise<KubernetesError> {
  const text = await response.text().catch(() => '');
  try {
    const { reason, message } = JSON.parse(text) as Status;
    return new KubernetesError(response.status, reason ?? 'Unknown', message ?? text);
  } catch {
    return new KubernetesError(response.status, 'Unknown', text.slice(0, 500) || `status ${response.status}`);
  }
}
