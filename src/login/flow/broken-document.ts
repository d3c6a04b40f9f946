// Tests: test/login/one-submit-tls.test.ts
import { setTimeout as sleep } from 'node:timers/promises';
import { buildSilentError } from './outcome.ts';
import type { Traffic } from './traffic.ts';

const LOOK_EVERY_MS = 500;
/** ms that the browser gets to show what there is of a document */
const SHOWN_MS = 3000;

/**
 * The observation of a page. Throws `site_unreachable` if it does not come because the answer to the submit broke off
 * with too little for a document: no script runs in such a page, so it cannot be observed.
 */
export async function unlessBroken<T>(observing: Promise<T>, traffic: Traffic): Promise<T> {
  const stop = new AbortController();
  const watch = async (): Promise<never> => {
    for (let brokenMs = 0; brokenMs < SHOWN_MS; brokenMs = traffic.hasBrokenDocument() ? brokenMs + LOOK_EVERY_MS : 0) {
      await sleep(LOOK_EVERY_MS, undefined, { signal: stop.signal });
    }
    throw buildSilentError();
  };
  const watched = watch();
  // Rejects when it is stopped.
  watched.catch(() => undefined);
  try {
    return await Promise.race([observing, watched]);
  } finally {
    stop.abort();
  }
}
