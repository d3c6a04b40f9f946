// Tests: test/cluster/credentials.test.ts, test/cluster/operator-faults.test.ts
import http from 'node:http';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { json, text } from 'node:stream/consumers';
import { sha256 } from '../crypto.ts';
import { CapstanError } from '../errors.ts';
import { openCredentials } from './credentials.ts';
import type { KubernetesSource } from './credentials.ts';
import { runWithin } from '../abort.ts';

/** Credentials are read again after this time, so that rotated tokens and certificates are used. */
const CREDENTIALS_MS = 30_000;
const CALL_TIMEOUT_MS = 30_000;
/** Shorter than the idle timeout of most load balancers (60 s). */
const IDLE_MS = 30_000;
/** The server ends a watch after this time; the next one continues where it ended. */
const WATCH_SECONDS = 28;
/** A connection that is silent for this long is dead, even if TCP has not noticed. */
const WATCH_SILENCE_MS = 35_000;

const TRANSIENT_STATUSES: readonly number[] = [429, 500, 502, 503, 504];

/** An error response of the API server. `code` is the reason that Kubernetes gives: `NotFound`, `Conflict`, `AlreadyExists`… */
export class KubernetesError extends CapstanError {
  /** of HTTP */
  readonly status: number;

  constructor(status: number, reason: string, message: string) {
    super(reason, message, { retryable: TRANSIENT_STATUSES.includes(status) });
    this.status = status;
  }
}

export function hasStatus(error: unknown, ...statuses: number[]): boolean {
  return error instanceof KubernetesError && statuses.includes(error.status);
}

/** True for errors that a retry may overcome: no connection, no response, a server that is starting or overloaded. */
export function isTransient(error: unknown): boolean {
  return !(error instanceof KubernetesError) || error.retryable;
}

export type Call = {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Record<string, string>;
  body?: unknown;
  /** of the body; default for PATCH: a merge patch */
  contentType?: string;
  signal?: AbortSignal;
};

export type WatchEvent = { type: string; object: unknown };

export type Kubernetes = {
  /** The namespace of the kubeconfig's context, or of the pod that this process runs in. */
  namespace: string | undefined;
  /** Returns parsed JSON; times stay text. Throws `KubernetesError`, or the connection's error. */
  request<T>(call: Call): Promise<T>;
  /** Yields until the server ends it. Throws `KubernetesError` (410: list again), and when silent for 35 s. */
  watch(path: string, query: Record<string, string>, signal: AbortSignal): AsyncGenerator<WatchEvent>;
  close(): Promise<void>;
};

/** The credentials as last read, and the connections made with them. */
type Access = { headers: Record<string, string>; identity: string; agent: http.Agent; readMs: number };

/** Uses the named kubeconfig, otherwise the pod's service account, otherwise kubectl's defaults. Throws `StartupError`. */
export async function openKubernetes(source: KubernetesSource = {}): Promise<Kubernetes> {
  const credentials = await openCredentials(source);
  const { server, namespace } = credentials;
  // Node's own client: the operator loads no other, which saves 11 MiB.
  const { Agent, request } = server.startsWith('https:') ? https : http;
  let current: Access | undefined;

  const readAccess = async (): Promise<Access> => {
    if (current !== undefined && Date.now() - current.readMs < CREDENTIALS_MS) return current;
    const { headers, tls, agent } = await credentials.read();
    const identity = sha256(JSON.stringify(tls));
    const readMs = Date.now();
    // Connections with former certificates end by themselves when idle.
    current =
      current?.identity === identity
        ? { ...current, headers, readMs }
        : { headers, identity, readMs, agent: agent ?? new Agent({ keepAlive: true, timeout: IDLE_MS, ...tls }) };
    return current;
  };

  const send = async (call: Call, signal: AbortSignal): Promise<IncomingMessage> => {
    const access = await readAccess();
    signal.throwIfAborted();
    const { method, path, body } = call;
    const query = call.query === undefined ? '' : `?${new URLSearchParams(call.query).toString()}`;
    const type = call.contentType ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
    const data = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const content = data === undefined ? {} : { 'content-type': type, 'content-length': data.byteLength };
    const headers = { ...access.headers, accept: 'application/json', ...content };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${server}${path}${query}`, { method, headers, agent: access.agent, signal }, resolve)
        .on('error', reject)
        .end(data);
    });
    const { statusCode = 500 } = response;
    // A rejected token may have been rotated: read it again.
    if (statusCode === 401) access.readMs = 0;
    if (statusCode >= 400) throw await readError(statusCode, response);
    return response;
  };

  return {
    namespace,
    request: <T>(call: Call): Promise<T> =>
      runWithin(CALL_TIMEOUT_MS, call.signal, async (signal) => (await json(await send(call, signal))) as T),
    async *watch(path, query, signal) {
      const silence = new AbortController();
      const timer = setTimeout(
        () => silence.abort(new Error(`no data within ${WATCH_SILENCE_MS} ms`)),
        WATCH_SILENCE_MS,
      );
      timer.unref();
      try {
        const call: Call = {
          method: 'GET',
          path,
          query: { ...query, watch: 'true', timeoutSeconds: `${WATCH_SECONDS}` },
        };
        const body = await send(call, AbortSignal.any([signal, silence.signal]));
        for await (const line of readLines(body, () => timer.refresh())) yield readEvent(line);
      } finally {
        clearTimeout(timer);
        silence.abort();
      }
    },
    async close() {
      // Callers have ended their requests, so there is nothing to wait for.
      current?.agent.destroy();
    },
  };
}

async function* readLines(body: IncomingMessage, onData: () => void): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body as AsyncIterable<Buffer>) {
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

async function readError(status: number, body: IncomingMessage): Promise<KubernetesError> {
  const received = await text(body).catch(() => '');
  try {
    const { reason, message } = JSON.parse(received) as Status;
    return new KubernetesError(status, reason ?? 'Unknown', message ?? received);
  } catch {
    return new KubernetesError(status, 'Unknown', received.slice(0, 500) || `status ${status}`);
  }
}
