import { setTimeout as sleep } from 'node:timers/promises';

export const KEY = 'cap_key_of_the_crash_suite';

export type Reply = { status: number; body: Record<string, unknown> };

/** The caller's side of HTTP: retries any failure until it gets a response. */
export type Application = {
  /** the server's current address; waits while there is none */
  url(): Promise<string>;
  call(method: string, path: string, request?: { body?: unknown; idempotencyKey?: string }): Promise<Reply>;
  readonly closed: boolean;
};

const PAUSE_MS = 20;

/** `find` returns the server's current address, if any. `isOver` ends all waits with an error. */
export function openApplication(find: () => string | undefined, isOver: () => boolean): Application {
  const check = () => {
    if (isOver()) throw new Error('the trial is over');
  };
  const url = async () => {
    for (;;) {
      check();
      const found = find();
      if (found !== undefined) return found;
      await sleep(PAUSE_MS);
    }
  };
  return {
    url,
    get closed() {
      return isOver();
    },
    async call(method, path, { body, idempotencyKey } = {}) {
      for (;;) {
        const base = await url();
        const answer = await tryCall(base + path, method, body, idempotencyKey);
        if (answer !== undefined && answer.status < 500 && answer.status !== 429) return answer;
        await sleep(PAUSE_MS);
      }
    },
  };
}

async function tryCall(
  url: string,
  method: string,
  body: unknown,
  idempotencyKey: string | undefined,
): Promise<Reply | undefined> {
  try {
    const response = await fetch(url, {
      method,
      headers: {
        'x-api-key': KEY,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      // A server that was frozen during a response does not close the connection.
      signal: AbortSignal.timeout(15_000),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  } catch {
    return undefined;
  }
}
