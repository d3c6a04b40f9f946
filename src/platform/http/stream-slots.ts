import { ApiError } from '../errors.ts';

const RETRY_AFTER_SECONDS = 5;

/** Counts the event streams that each key holds open in this process. */
export type StreamSlots = {
  /** Returns the function that releases the slot, once however often it is called. Throws `rate_limited` at the limit. */
  acquire(keyId: string): () => void;
};

export function openStreamSlots(perKey: number): StreamSlots {
  const open = new Map<string, number>();
  return {
    acquire(keyId) {
      const count = open.get(keyId) ?? 0;
      if (count >= perKey) {
        throw new ApiError('rate_limited', `The API key has ${perKey} event streams open, the most it may have.`, {
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        });
      }
      open.set(keyId, count + 1);
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        const left = (open.get(keyId) ?? 1) - 1;
        if (left > 0) open.set(keyId, left);
        else open.delete(keyId);
      };
    },
  };
}
