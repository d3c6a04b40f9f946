import { getHeapStatistics } from 'node:v8';
import { GatewayError } from './gateway-error.ts';

/** An active request needs about two and a half times the size of its body, and more while it is parsed. */
const HEAP_SHARE = 8;
const RETRY_AFTER_MS = 2000;

/** Bounds the memory of active requests, so that a burst of large requests cannot crash the process. */
export type Admission = {
  /** Reserves memory for a body of that many bytes; call the result to release it. Throws `unavailable` when full. */
  acquire(bytes: number, organization: string): () => void;
};

/**
 * `limit` is in bytes; absent: a share of the heap's maximum size. An organization's only request is always admitted,
 * and so are requests within its fair share, whatever other organizations hold.
 */
export function buildAdmission(limit = getHeapStatistics().heap_size_limit / HEAP_SHARE): Admission {
  const used = new Map<string, number>();
  let total = 0;
  const change = (organization: string, bytes: number): void => {
    const left = (used.get(organization) ?? 0) + bytes;
    total += bytes;
    if (left === 0) used.delete(organization);
    else used.set(organization, left);
  };
  return {
    acquire(bytes, organization) {
      const own = used.get(organization) ?? 0;
      const share = limit / (own > 0 ? used.size : used.size + 1);
      if (own > 0 && total + bytes > limit && own + bytes > share) {
        const message = 'Too many large requests are in progress; try again.';
        throw new GatewayError('unavailable', message, { retryAfterMs: RETRY_AFTER_MS });
      }
      change(organization, bytes);
      return () => change(organization, -bytes);
    },
  };
}
