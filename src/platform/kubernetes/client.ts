import http from 'node:http';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import { json, text } from 'node:stream/consumers';
import { sha256 } from '../crypto.ts';
import { CapstanError } from '../errors.ts';
import { openCredentials } from './credentials.ts';
import type { KubernetesSource } from './credentials.ts';
import { runWithin } from '../abort.ts';

/** Rotated tokens and certificates are taken up within this time. */
const CREDENTIALS_MS = 30_000;
const CALL_TIMEOUT_MS = 30_000;
/** Shorter than what lies between keeps a silent connection for: most load balancers 60 s. */
const IDLE_MS = 30_000;
/** The server ends a watch after this time, and it is begun again where it ended. */
const WATCH_SECONDS = 28;
/** Of silence: the connection is dead, whatever TCP says. */
const WATCH_SILENCE_MS = 35_000;

const TRANSIENT_STATUSES: readonly number[] = [429, 500, 502, 503, 504];

/** A refusal of the API server. `code` is the reason that Kubernetes gives: `NotFound`, `Conflict`, `AlreadyExists`… */
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

/** True for what may be over in a moment: no connection, no answer, a server that starts or has too much to do. */
export function isPassing(error: unknown): boolean {
  return !(error instanceof KubernetesError) || error.retryable;
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

/** Credentials as they were read last, and the connections made with them. */
type Access = { headers: Record<string, string>; identity: string; agent: http.Agent; takenMs: number };

/** From the kubeconfig named, else from the pod that this runs in, else from where kubectl looks. Throws `StartupError`. */
export async function openKubernetes(source: KubernetesSource = {}): Promise<Kubernetes> {
  const credentials = await openCredentials(source);
  const { server, namespace } = credentials;
  // Node's own client, since the role operator loads no other: that saves it 11 MiB.
  const { Agent, request } = server.startsWith('https:') ? https : http;
  let kept: Access | undefined;

  const takeAccess = async (): Promise<Access> => {
    if (kept !== undefined && Date.now() - kept.takenMs < CREDENTIALS_MS) return kept;
    const { headers, tls, agent } = await credentials.read();
    const identity = sha256(JSON.stringify(tls));
    const takenMs = Date.now();
    // The connections of former certificates end by themselves: those in use after their answer, silent.
    kept =
      kept?.identity === identity
        ? { ...kept, headers, takenMs }
        : { headers, identity, takenMs, agent: agent ?? new Agent({ keepAlive: true, timeout: IDLE_MS, ...tls }) };
    return kept;
  };

  const send = async (call: Call, signal: AbortSignal): Promise<IncomingMessage> => {
    const access = await takeAccess();
    signal.throwIfAborted();
    const { method, path, body } = call;
    const query = call.query === undefined ? '' : `?${new URLSearchParams(call.query).toString()}`;
    const type = call.contentType ?? (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
    const data = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const content = data === undefined ? {} : { 'content-type': type, 'content-length': data.byteLength };
    const headers = { ...access.headers, accept: 'application/json', ...content };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request(`${server}${path}${query}`, { method, headers, agent: access.agent, signal }, resolve)
        .on('error', reject)
        .end(data);
    });
    const { statusCode = 500 } = answer;
    // A token that is refused may have been exchanged already.
    if (statusCode === 401) access.takenMs = 0;
    if (statusCode >= 400) throw await readError(statusCode, answer);
    return answer;
  };

  return {
    namespace,
    request: <T>(call: Call): Promise<T> =>
      runWithin(CALL_TIMEOUT_MS, call.signal, async (signal) => (await json(await send(call, signal))) as T),
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
        const body = await send(call, AbortSignal.any([signal, silence.signal]));
        for await (const line of readLines(body, () => timer.refresh())) yield readEvent(line);
      } finally {
        clearTimeout(timer);
        silence.abort();
      }
    },
    async close() {
      // Whoever uses this has ended what it began, so there is nothing to wait for.
      kept?.agent.destroy();
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
  const told = await text(body).catch(() => '');
  try {
    const { reason, message } = JSON.parse(told) as Status;
    return new KubernetesError(status, reason ?? 'Unknown', message ?? told);
  } catch {
    return new KubernetesError(status, 'Unknown', told.slice(0, 500) || `status ${status}`);
  }
}
