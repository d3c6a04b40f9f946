// Tests: test/operator/runtime/refusals.test.ts, test/cluster/operator-refusals.test.ts
import { errorText } from '../../src/platform/errors.ts';
import { hasStatus } from '../../src/platform/kubernetes/client.ts';
import type { Reason } from './reasons.ts';

/** The API server refused to create an object: the text for a condition. */
export type Refusal = { reason: Reason; message: string };

const FIRST_DELAY_MS = 1000;
/**
 * The first delay is short, to notice a freed quota soon. With many refusals it grows, so that the total of retries
 * stays small.
 */
const MAX_DELAY_MS = { alone: 5000, always: 60_000, perRefused: 100 };

/** Undefined for a conflict and for an error that a retry may resolve. */
export function describeRefusal(error: unknown, reason: Reason): Refusal | undefined {
  const message = errorText(error);
  // An admission webhook that does not respond is reported as an internal error.
  const isWebhookDown = hasStatus(error, 500) && message.includes('failed calling webhook');
  if (!isWebhookDown && !hasStatus(error, 400, 403, 404, 413, 422)) return undefined;
  return { reason: message.includes('exceeded quota') ? 'QuotaExceeded' : reason, message };
}

type Entry = { generation: number; count: number; retryAtMs: number; refusal: Refusal };

/** Refused creations, by resource key. They are retried with back-off, and at once for a changed spec. */
export class Refusals {
  readonly #entries = new Map<string, Entry>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** The refusal of this generation, while its retry is not due. */
  findPending(key: string, generation: number): (Refusal & { requeueMs: number }) | undefined {
    const entry = this.#entries.get(key);
    const requeueMs = (entry?.retryAtMs ?? 0) - this.#now();
    if (entry === undefined || entry.generation !== generation || requeueMs <= 0) return undefined;
    return { ...entry.refusal, requeueMs };
  }

  /** Returns the milliseconds until the next attempt. */
  record(key: string, generation: number, refusal: Refusal): number {
    const known = this.#entries.get(key);
    const count = known?.generation === generation ? known.count + 1 : 1;
    const { alone, always, perRefused } = MAX_DELAY_MS;
    const most = Math.min(always, Math.max(alone, this.#entries.size * perRefused));
    const delayMs = Math.min(most, FIRST_DELAY_MS * 2 ** Math.min(count - 1, 10));
    this.#entries.set(key, { generation, count, retryAtMs: this.#now() + delayMs, refusal });
    return delayMs;
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }
}
