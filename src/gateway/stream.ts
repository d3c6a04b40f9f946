import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** An event stream to one client. Frames are never torn: a write holds whole frames only. */
export type ClientStream = {
  /** whether the status line is out, so that a failure can no longer be one */
  hasBegun(): boolean;
  /** Queues frames; resolves when the client has room for more. Undefined: it has. */
  write(frames: string): Promise<void> | undefined;
  end(frames: string): void;
  /** Stops the keepalive; the connection stays as it is. */
  release(): void;
};

/** Proxies on the way give up on a stream after a minute of silence, some sooner. */
export const KEEPALIVE_MS = 15_000;

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
};

type StreamOptions = {
  headers: Record<string, string>;
  /** a frame that means nothing, sent after each `keepaliveMs` of silence */
  keepalive: string;
  keepaliveMs?: number | undefined;
  signal: AbortSignal;
};

/**
 * Begins with the first frame, or with the first keepalive when the model takes its time. The first frame goes out at
 * once; later ones that come in one turn of the event loop share a write.
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
    response.writeHead(200, { ...headers, ...HEADERS });
    response.socket?.setNoDelay(true);
  }

  function flush(): void {
    scheduled = false;
    if (queued === '' || response.destroyed || response.writableEnded) return;
    const text = queued;
    queued = '';
    if (response.write(text) || room !== undefined) return;
    // An abort ends the wait; whoever waits sees it by the signal.
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
        // Node holds a write until the microtasks are done, and those are all the events that came with the first.
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
