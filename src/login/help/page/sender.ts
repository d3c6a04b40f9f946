export type Sent = { type: string } & Record<string, unknown>;

const MAX_BATCH = 60;

/** Sends input in order; pending events share one request. `address` changes with each new token. */
export class Sender {
  readonly #address: () => string;
  readonly #onFault: (status: number) => void;
  #queue: Sent[] = [];
  #isSending = false;

  constructor(address: () => string, onFault: (status: number) => void) {
    this.#address = address;
    this.#onFault = onFault;
  }

  send(...events: Sent[]): void {
    const last = this.#queue.at(-1);
    // Of pending moves, only the last one counts.
    if (last?.type === 'move' && events[0]?.type === 'move') this.#queue.pop();
    this.#queue.push(...events);
    if (!this.#isSending) void this.#flush();
  }

  async #flush(): Promise<void> {
    this.#isSending = true;
    while (this.#queue.length > 0) {
      const status = await post(`${this.#address()}/input`, { events: this.#queue.splice(0, MAX_BATCH) });
      if (status >= 400 || status === 0) this.#onFault(status);
    }
    this.#isSending = false;
  }
}

/** The status of the answer; 0 without one. */
export async function post(address: string, body: object): Promise<number> {
  try {
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return response.status;
  } catch {
    return 0;
  }
}
