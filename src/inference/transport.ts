import { Agent, errors as undiciErrors } from 'undici';
import type { Dispatcher } from 'undici';
import { omitUndefined } from '../platform/records.ts';
import { traceHeaders } from '../platform/work-context.ts';
import { buildUpstreamError, findRequestId, parseRetryAfter, readAwsName } from './upstream-error.ts';
import { ModelError } from './model.ts';
import { authorize } from './credentials/authorize.ts';
import { FRAMES_TYPE, buildFrameReader } from './event-frames.ts';
import { buildEventReader } from './sse.ts';
import { decodeBody, readText } from './body.ts';
import { openExchange } from './exchange.ts';
import type { Exchange } from './exchange.ts';
import type { Reply, SseEvent, UpstreamRequest, UpstreamTarget } from './upstream/dialect.ts';

/** Maximum bytes read of an error's body. */
const ERROR_BODY_LIMIT = 64 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
/** Maximum decompressed bytes of one reply, so that an endless one cannot exhaust the memory. */
const MAX_REPLY = 128 * 1024 * 1024;
/** How long the body of a finished reply may take to end before its connection is closed. */
const DRAIN_MS = 1000;

/**
 * An upstream's response. The events end with the body; leaving the loop early closes the connection. Once the reply is
 * complete, the rest of the body is discarded and the connection is reused.
 */
export type UpstreamResponse = Reply & { events: AsyncGenerator<SseEvent>; requestId: string | undefined };

/** A request as it is sent. `path` follows the base URL. */
export type RawRequest = {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  headers: Record<string, string>;
  body?: string | Uint8Array | undefined;
};

export type Transport = {
  /**
   * Resolves once the upstream answers 2xx. Throws a `ModelError` for any other status, and the signal's reason at once
   * when it aborts.
   */
  post(target: UpstreamTarget, request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamResponse>;
  /** The same for a call whose body is not an event stream; the caller reads or closes the response. */
  open(target: UpstreamTarget, request: RawRequest, signal: AbortSignal): Promise<Exchange>;
  close(): Promise<void>;
};

function buildUrl(baseUrl: string, path: string): { origin: string; path: string } {
  const url = new URL(baseUrl);
  const search = path.includes('?') ? url.search.replace('?', '&') : url.search;
  return { origin: url.origin, path: `${url.pathname.replace(/(?<!\/)\/+$/, '')}${path}${search}` };
}

/** Translates a connection failure. `started`: whether a part of the response had arrived. */
export function describeFailure(error: unknown, started: boolean): ModelError {
  if (error instanceof ModelError) return error;
  if (
    error instanceof undiciErrors.HeadersTimeoutError ||
    error instanceof undiciErrors.BodyTimeoutError ||
    error instanceof undiciErrors.ConnectTimeoutError
  ) {
    return new ModelError('timeout', 'The provider did not answer in time.', { cause: error });
  }
  const message = started ? "The provider's reply was cut off." : 'The provider could not be reached.';
  return new ModelError('upstream', message, { cause: error });
}

async function buildHttpError(answer: Exchange, target: UpstreamTarget): Promise<ModelError> {
  const text = await readText(decodeBody(answer), ERROR_BODY_LIMIT).catch(() => '');
  answer.close();
  let body: unknown = text.trimStart().startsWith('<') ? '' : text;
  try {
    body = JSON.parse(text);
  } catch {
    // plain text, or cut at the limit
  }
  const header = answer.headers['retry-after'];
  const retryAfterMs = parseRetryAfter(Array.isArray(header) ? header[0] : header, Date.now());
  const { status } = answer;
  const requestId = findRequestId(answer.headers);
  const type = readAwsName(answer.headers['x-amzn-errortype']);
  return buildUpstreamError(body, target, { status, type, ...omitUndefined({ retryAfterMs, requestId }) });
}

export type TransportOptions = {
  maxReplyBytes?: number;
  /** connects to guarded targets; it is not closed here. Absent: there are none */
  guard?: Dispatcher;
};

/** Calls upstreams over kept-alive connections, one pool per origin. */
export function openTransport({ maxReplyBytes = MAX_REPLY, guard }: TransportOptions = {}): Transport {
  const agent = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    keepAliveTimeout: 30_000,
    pipelining: 1,
    allowH2: false,
  });

  async function* readBody(answer: Exchange, signal: AbortSignal, state: { complete: boolean }) {
    const type = String(answer.headers['content-type']);
    const reader = type.startsWith(FRAMES_TYPE) ? await buildFrameReader() : buildEventReader();
    const events: SseEvent[] = [];
    let size = 0;
    try {
      for await (const chunk of decodeBody(answer)) {
        size += chunk.length;
        if (size > maxReplyBytes) throw new ModelError('upstream', 'The provider sent a reply that is too large.');
        reader.push(chunk, events);
        for (const event of events) {
          if (signal.aborted) throw signal.reason;
          yield event;
        }
        events.length = 0;
      }
      reader.end(events);
      for (const event of events) yield event;
    } catch (error) {
      signal.throwIfAborted();
      throw describeFailure(error, true);
    } finally {
      if (state.complete) answer.drain({ bytes: ERROR_BODY_LIMIT, ms: DRAIN_MS });
      else answer.close();
    }
  }

  async function open(target: UpstreamTarget, request: RawRequest, signal: AbortSignal): Promise<Exchange> {
    signal.throwIfAborted();
    let answer: Exchange;
    const dispatcher = target.isGuarded === true ? guard : agent;
    if (dispatcher === undefined) throw new ModelError('upstream', 'Providers of organizations cannot be called here.');
    const url = buildUrl(target.baseUrl, request.path);
    const headers = await authorize(target, { ...request, ...url }, guard);
    signal.throwIfAborted();
    try {
      answer = await openExchange(dispatcher, {
        ...url,
        method: request.method,
        headers: { 'accept-encoding': 'identity', ...traceHeaders(), ...headers },
        body: request.body ?? null,
        headersTimeout: target.timeoutMs,
        bodyTimeout: target.timeoutMs,
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw describeFailure(error, false);
    }
    if (answer.status >= 200 && answer.status <= 299) return answer;
    const fault = await buildHttpError(answer, target);
    signal.throwIfAborted();
    throw fault;
  }

  return {
    open,
    async post(target, { path, headers, body, bytes }, signal) {
      signal.throwIfAborted();
      const sent = {
        method: 'POST' as const,
        path,
        headers: {
          'content-type': 'application/json',
          accept: `text/event-stream, application/json${target.format === 'converse' ? `, ${FRAMES_TYPE}` : ''}`,
          ...headers,
        },
        body: bytes ?? JSON.stringify(body),
      };
      const answer = await open(target, sent, signal);
      const state = { complete: false };
      return {
        requestId: findRequestId(answer.headers),
        events: readBody(answer, signal, state),
        complete: () => {
          state.complete = true;
        },
      };
    },
    close: () => agent.destroy(),
  };
}
