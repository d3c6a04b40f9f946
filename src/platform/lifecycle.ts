import { errorText } from './errors.ts';
import type { Logger } from './log.ts';

type Closer = () => Promise<void> | void;

/** Closes resources once in reverse order, even if a closer throws. */
export class Lifecycle {
  readonly #closers: { name: string; close: Closer }[] = [];
  readonly #abort = new AbortController();
  readonly #log: Logger;
  #closing: Promise<void> | undefined;
  #onFatal: ((error: Error) => void) | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Aborted when closing begins. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  onClose(name: string, close: Closer): void {
    this.#closers.push({ name, close });
  }

  /** Registers a closable and returns it. */
  use<T extends { close(): Promise<void> | void }>(name: string, resource: T): T {
    this.onClose(name, () => resource.close());
    return resource;
  }

  /** Who ends the process when something that it cannot do without is lost. */
  onFatal(end: (error: Error) => void): void {
    this.#onFatal = end;
  }

  /** Something is lost that only a new process brings back. While closing it is lost anyway. */
  fail(error: Error): void {
    if (this.#closing === undefined) this.#onFatal?.(error);
  }

  close(): Promise<void> {
    this.#closing ??= this.#run();
    return this.#closing;
  }

  async #run(): Promise<void> {
    this.#abort.abort();
    for (const { name, close } of this.#closers.reverse()) {
      try {
        await close();
      } catch (error) {
        this.#log.error({ part: name, error: errorText(error) }, 'could not close cleanly');
      }
    }
  }
}
