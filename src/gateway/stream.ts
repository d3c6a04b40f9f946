import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** An event stream to one client. Each write holds whole frames. */
export type ClientStream = {
  /** whether the status line is sent, so that a failure can no longer set the status */
  hasBegun(): boolean;
  /** Queues frames. Resolves when the client can take more; undefined: it can already. */
  write(frames: string): Promise<void> | undefined;
  end(frames: string): void;
  /** Stops the keepalive; the connection stays open. */
  release(): void;
};

/** Proxies close a stream after a minute of silence, some sooner. */
export const KEEPALIVE_MS = 15_000;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

type StreamOptions = {
  /** read when the stream begins */
  headers: () => Record<string, string>;
  /** a frame without content, sent after each `keepaliveMs` of silence */
  keepalive: string;
  keepaliveMs?: number | undefined;
  signal: AbortSignal;
};

/**
 * Begins with the first frame, or with the first keepalive if the model is slow. The first frame is written at once; later
 * frames of the same turn of the event loop share a write.
 */
export function openClientStream(
  response: ServerResponse,
  { headers, keepalive, keepaliveMs = KEEPALIVE_MS, signal }: StreamOptions,
): ClientStream {
  let begun = false;
  let queued = '';
  let scheduled = false;
  let room: Promise<void> | undefined;

  function begin(): void {
    if (begun) return;
    begun = true;
    response.writeHead(200, { ...headers(), ...HEADERS });
    response.socket?.setNoDelay(true);
  }

  function flush(): void {
    scheduled = false;
    if (queued === '' || response.destroyed || response.writableEnded) return;
    const text = queued;
    queued = '';
    if (response.write(text) || room !== undefined) return;
    // An abort ends the wait; the waiting code checks the signal.
    room = once(response, 'drain', { signal })
      .then(
        () => undefined,
        () => undefined,
      )
      .finally(() => {
        room = undefined;
      });
  }

  const timer = setInterval(() => {
    if (room !== undefined) return;
    begin();
    queued += keepalive;
    flush();
  }, keepaliveMs);

  return {
    hasBegun: () => begun,
    write(frames) {
      timer.refresh();
      queued += frames;
      if (!begun) {
        begin();
        flush();
        // Node corks a write until the microtasks are done, which would delay the first frame.
        response.socket?.uncork();
      } else if (!scheduled) {
        scheduled = true;
        setImmediate(flush);
      }
      return room;
    },
    end(frames) {
      clearInterval(timer);
      begin();
      const text = queued + frames;
      queued = '';
      if (!response.destroyed) response.end(text);
    },
    release: () => clearInterval(timer),
  };
}
