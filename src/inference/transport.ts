import { Agent, errors as undiciErrors } from 'undici';
import { omitUndefined } from '../platform/records.ts';
import { buildUpstreamError, parseRetryAfter } from './upstream-error.ts';
import { ModelError } from './model.ts';
import { buildEventReader } from './sse.ts';
import { decodeBody, readText } from './body.ts';
import { openExchange } from './exchange.ts';
import type { Exchange } from './exchange.ts';
import type { Reply, SseEvent, UpstreamRequest, UpstreamTarget } from './upstream/dialect.ts';

/** Bytes of an error's body that are read at most. */
const ERROR_BODY_LIMIT = 64 * 1024;
const CONNECT_TIMEOUT_MS = 10_000;
/** Bytes of one reply that are read at most, unpacked: one without an end would fill the memory. */
const MAX_REPLY = 128 * 1024 * 1024;
/** How long a finished reply may take to close its body before its connection is given up. */
const DRAIN_MS = 1000;

/**
 * An upstream's answer. The events end with the body; leaving them early closes the connection. Once the reply is
 * complete, whatever still comes is thrown away, and the connection stays for the next call.
 */
export type UpstreamResponse = Reply & { events: AsyncGenerator<SseEvent> };

export type Transport = {
  /**
   * Resolves once the upstream answered 2xx. Throws a `ModelError` for anything else, and the signal's reason at once
   * when it aborts, in whatever phase the call is.
   */
  post(target: UpstreamTarget, request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamResponse>;
  close(): Promise<void>;
};

function buildUrl(baseUrl: string, path: string): { origin: string; path: string } {
  const url = new URL(baseUrl);
  return { origin: url.origin, path: `${url.pathname.replace(/\/+$/, '')}${path}${url.search}` };
}

/** What a failure of the connection means. `started` tells whether any of the answer had come. */
function describeFailure(error: unknown, started: boolean): ModelError {
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
  return buildUpstreamError(body, target, { status, ...omitUndefined({ retryAfterMs }) });
}

/** Calls upstreams over kept-alive connections, one pool an origin. */
export function openTransport({ maxReplyBytes = MAX_REPLY }: { maxReplyBytes?: number } = {}): Transport {
  const agent = new Agent({
    connect: { timeout: CONNECT_TIMEOUT_MS },
    keepAliveTimeout: 30_000,
    pipelining: 1,
    allowH2: false,
  });

  async function* readBody(answer: Exchange, signal: AbortSignal, state: { complete: boolean }) {
    const reader = buildEventReader();
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

  return {
    async post(target, request, signal) {
      signal.throwIfAborted();
      // What cannot be written is the caller's fault, not the upstream's.
      const text = JSON.stringify(request.body);
      let answer: Exchange;
      try {
        answer = await openExchange(agent, {
          ...buildUrl(target.baseUrl, request.path),
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'text/event-stream, application/json',
            'accept-encoding': 'identity',
            ...request.headers,
          },
          body: text,
          headersTimeout: target.timeoutMs,
          bodyTimeout: target.timeoutMs,
          signal,
        });
      } catch (error) {
        signal.throwIfAborted();
        throw describeFailure(error, false);
      }
      if (answer.status < 200 || answer.status > 299) {
        const fault = await buildHttpError(answer, target);
        signal.throwIfAborted();
        throw fault;
      }
      const state = { complete: false };
      return {
        events: readBody(answer, signal, state),
        complete: () => {
          state.complete = true;
        },
      };
    },
    close: () => agent.destroy(),
  };
}
