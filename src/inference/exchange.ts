import type { Dispatcher } from 'undici';

/** Bytes of an answer that wait to be read before the upstream is told to wait. */
const HIGH_WATER = 64 * 1024;

export type ExchangeOptions = Omit<Dispatcher.DispatchOptions, 'upgrade'> & { signal: AbortSignal };

/** An answer: its head, and its body as it comes. */
export type Exchange = {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  /** The next bytes of the body; undefined: there are no more. Throws what ended the connection. */
  read(): Promise<Uint8Array | undefined>;
  /** Throws away what still comes, so that the connection can be used again; gives one up that does not end. */
  drain(limits: { bytes: number; ms: number }): void;
  /** Gives the connection up, unless the answer has come whole. */
  close(): void;
};

/**
 * One call over an undici dispatcher; resolves with the head of the answer. An abort of `signal` ends it at once, in
 * whatever phase it is. The dispatcher's own `request` makes a stream of each answer, which only a full garbage collection
 * takes away: by that most of what a gateway under load keeps, and its longest pauses.
 */
export function openExchange(dispatcher: Dispatcher, { signal, ...options }: ExchangeOptions): Promise<Exchange> {
  const head = Promise.withResolvers<Exchange>();
  const queue: Uint8Array[] = [];
  let queued = 0;
  let controller: Dispatcher.DispatchController | undefined;
  let state: 'open' | 'ended' | 'failed' = 'open';
  let failure: unknown;
  let wake: (() => void) | undefined;
  /** of a body that is thrown away: bytes that may still come */
  let left: number | undefined;
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

  function give(error: Error): void {
    finish('failed', error);
    controller?.abort(error);
  }

  function onAbort(): void {
    give(signal.reason as Error);
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
      // What is only announced is no answer yet.
      if (status < 200) return;
      head.resolve({
        status,
        headers,
        read,
        drain({ bytes, ms }) {
          if (state !== 'open') return;
          left = bytes - queued;
          queue.length = 0;
          timer = setTimeout(() => give(new Error('The body does not end.')), ms);
          if (controller?.paused === true) controller.resume();
        },
        close: () => {
          if (state === 'open') give(new Error('The body is not wanted.'));
        },
      });
    },
    onResponseData(given, chunk) {
      if (state !== 'open') return;
      if (left !== undefined) {
        left -= chunk.length;
        if (left < 0) give(new Error('The body does not end.'));
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

/** The body of an answer, bytes by bytes. Leaving it early leaves the connection open, for `drain` or `close`. */
export async function* readChunks(answer: Exchange): AsyncGenerator<Uint8Array> {
  for (let chunk = await answer.read(); chunk !== undefined; chunk = await answer.read()) yield chunk;
}
