import type { Dispatcher } from 'undici';

/** Unread bytes of a response after which the upstream is paused. */
const HIGH_WATER = 64 * 1024;

export type ExchangeOptions = Omit<Dispatcher.DispatchOptions, 'upgrade'> & { signal: AbortSignal };

/** A response: its head, and its body as a stream. */
export type Exchange = {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  /** The next bytes of the body; undefined at the end. Throws the connection's error. */
  read(): Promise<Uint8Array | undefined>;
  /** Discards the rest of the body, so that the connection can be reused; closes it when the body exceeds the limits. */
  drain(limits: { bytes: number; ms: number }): void;
  /** Closes the connection unless the response is complete. */
  close(): void;
};

/**
 * One call over an undici dispatcher; resolves with the head of the response. An abort of `signal` ends it at once in any
 * phase. The dispatcher's own `request` creates a stream per response, which only a full garbage collection frees: under
 * load, those streams hold most of the gateway's memory and cause its longest pauses.
 */
export function openExchange(dispatcher: Dispatcher, { signal, ...options }: ExchangeOptions): Promise<Exchange> {
  const head = Promise.withResolvers<Exchange>();
  const queue: Uint8Array[] = [];
  let queued = 0;
  let controller: Dispatcher.DispatchController | undefined;
  let state: 'open' | 'ended' | 'failed' = 'open';
  let failure: unknown;
  let wake: (() => void) | undefined;
  /** while the body is discarded: bytes that may still arrive */
  let remaining: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  function finish(to: 'ended' | 'failed', error?: unknown): void {
    if (state !== 'open') return;
    state = to;
    failure = error;
    signal.removeEventListener('abort', onAbort);
    clearTimeout(timer);
    if (to === 'failed') head.reject(error);
    wake?.();
  }

  function abandon(error: Error): void {
    finish('failed', error);
    controller?.abort(error);
  }

  function onAbort(): void {
    abandon(signal.reason as Error);
  }

  async function read(): Promise<Uint8Array | undefined> {
    if (state === 'open' && queue.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    if (state === 'failed') throw failure;
    const chunk = queue.shift();
    queued -= chunk?.length ?? 0;
    if (queued < HIGH_WATER && controller?.paused === true) controller.resume();
    return chunk;
  }

  signal.addEventListener('abort', onAbort, { once: true });
  dispatcher.dispatch(options, {
    onRequestStart(given) {
      controller = given;
      if (state === 'failed') given.abort(failure as Error);
    },
    onResponseStart(_controller, status, headers) {
      // Informational responses (1xx) precede the response.
      if (status < 200) return;
      head.resolve({
        status,
        headers,
        read,
        drain({ bytes, ms }) {
          if (state !== 'open') return;
          remaining = bytes - queued;
          queue.length = 0;
          timer = setTimeout(() => abandon(new Error('The rest of the body exceeds the limits.')), ms);
          if (controller?.paused === true) controller.resume();
        },
        close: () => {
          if (state === 'open') abandon(new Error('The body is not needed.'));
        },
      });
    },
    onResponseData(given, chunk) {
      if (state !== 'open') return;
      if (remaining !== undefined) {
        remaining -= chunk.length;
        if (remaining < 0) abandon(new Error('The rest of the body exceeds the limits.'));
        return;
      }
      queue.push(chunk);
      queued += chunk.length;
      if (queued >= HIGH_WATER) given.pause();
      wake?.();
    },
    onResponseEnd: () => finish('ended'),
    onResponseError: (_controller, error) => finish('failed', error),
  });
  return head.promise;
}

/** The chunks of a body. Leaving the loop early keeps the connection open, for `drain` or `close`. */
export async function* readChunks(answer: Exchange): AsyncGenerator<Uint8Array> {
  for (let chunk = await answer.read(); chunk !== undefined; chunk = await answer.read()) yield chunk;
}
