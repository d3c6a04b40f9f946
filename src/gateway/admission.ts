import { getHeapStatistics } from 'node:v8';
import { GatewayError } from './gateway-error.ts';

/** A request under way takes about two and a half times its body, and more while it is read. */
const HEAP_SHARE = 8;
const RETRY_AFTER_MS = 2000;

/** Bounds what requests under way hold of the memory, so that a flood of large ones ends none of those that are in. */
export type Admission = {
  /** Lets a request in by the bytes of its body, and gives the way out. Throws `unavailable` when there is no room. */
  enter(bytes: number): () => void;
};

/** `limit` is in bytes; absent: by the size that the heap may have. A request is let in where none is under way. */
export function openAdmission(limit = getHeapStatistics().heap_size_limit / HEAP_SHARE): Admission {
  let used = 0;
  return {
    enter(bytes) {
      if (used > 0 && used + bytes > limit) {
        const message = 'Too many large requests are under way here; try again.';
        throw new GatewayError('unavailable', message, { retryAfterMs: RETRY_AFTER_MS });
      }
      used += bytes;
      return () => {
        used -= bytes;
      };
    },
  };
}
