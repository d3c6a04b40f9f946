import { getHeapStatistics } from 'node:v8';
import { GatewayError } from './gateway-error.ts';

/** An active request needs about two and a half times the size of its body, and more while it is parsed. */
const HEAP_SHARE = 8;
const RETRY_AFTER_MS = 2000;

/** Bounds the memory of active requests, so that a burst of large requests cannot crash the process. */
export type Admission = {
  /** Reserves memory for a body of that many bytes; call the result to release it. Throws `unavailable` when full. */
  acquire(bytes: number): () => void;
};

/** `limit` is in bytes; absent: a share of the heap's maximum size. A request is always admitted when no other is active. */
export function buildAdmission(limit = getHeapStatistics().heap_size_limit / HEAP_SHARE): Admission {
  let used = 0;
  return {
    acquire(bytes) {
      if (used > 0 && used + bytes > limit) {
        const message = 'Too many large requests are in progress; try again.';
        throw new GatewayError('unavailable', message, { retryAfterMs: RETRY_AFTER_MS });
      }
      used += bytes;
      return () => {
        used -= bytes;
      };
    },
  };
}
