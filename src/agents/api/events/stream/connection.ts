import type { ServerResponse } from 'node:http';
import { KEEPALIVE_FRAME } from './frame.ts';

/** Live frames may wait for the client up to this many bytes. */
export const MAX_UNSENT_BYTES = 1024 * 1024;
const KEEPALIVE_MS = 14_500;
const STALLED_MS = 60_000;
const GOODBYE_MS = 1000;

/** Writes frames to one client and ends its connection when it does not keep up. */
export class StreamConnection {
  readonly #response: ServerResponse;
  #lastWrite = performance.now();
  #stalledSince: number | null = null;
  /** between two pieces of a frame */
  #inFrame = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get isOver(): boolean {
    return this.#response.writableEnded || this.#response.destroyed;
  }

  /** Sends a live frame. A client with more than 1 MiB unsent is disconnected: it reconnects and resumes. */
  write(frame: string): void {
    if (this.isOver) return;
    if (this.#response.writableLength > MAX_UNSENT_BYTES) this.#response.destroy();
    else this.#response.write(frame);
    this.#lastWrite = performance.now();
  }

  /** Unlike live frames, history waits for the client, however slow. */
  async writeInPace(frame: string): Promise<void> {
    const response = this.#response;
    this.#lastWrite = performance.now();
    if (this.isOver || response.write(frame)) return;
    this.#stalledSince = this.#lastWrite;
    await new Promise<void>((resolve) => {
      const done = () => {
        response.off('drain', done).off('close', done);
        resolve();
      };
      response.on('drain', done).on('close', done);
    });
    this.#stalledSince = null;
  }

  /** Sends one frame in pieces; no keepalive comes between them. */
  async writePieces(frame: AsyncIterable<string>): Promise<void> {
    this.#inFrame = true;
    for await (const piece of frame) {
      if (this.isOver) return;
      await this.writeInPace(piece);
    }
    this.#inFrame = false;
  }

  /** Sends a keepalive when it is due. A client that has read nothing for a minute is disconnected. */
  tick(now: number): void {
    if (this.#stalledSince !== null) {
      if (now - this.#stalledSince > STALLED_MS) this.destroy();
    } else if (!this.#inFrame && now - this.#lastWrite >= KEEPALIVE_MS) this.write(KEEPALIVE_FRAME);
  }

  end(): void {
    const response = this.#response;
    if (!response.headersSent) {
      response.destroy();
      return;
    }
    response.end();
    // A client that reads nothing must not delay the server's shutdown.
    setTimeout(() => response.destroy(), GOODBYE_MS).unref();
  }

  destroy(): void {
    this.#response.destroy();
  }
}
