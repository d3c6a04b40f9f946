/**
 * Calls `run` every `periodMs` from `start` on, until it returns false: a process with nothing to do is not woken. Keeps no
 * process alive.
 */
export class Ticker {
  readonly #periodMs: number;
  readonly #run: () => boolean;
  #timer: NodeJS.Timeout | undefined;

  constructor(periodMs: number, run: () => boolean) {
    this.#periodMs = periodMs;
    this.#run = run;
  }

  /** No effect while it runs. */
  start(): void {
    this.#timer ??= setInterval(() => {
      if (!this.#run()) this.stop();
    }, this.#periodMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
