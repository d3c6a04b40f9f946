import { LoginError } from '../login-error.ts';

/** One of a limited number of concurrent jobs. */
export type Slot = {
  /** Releases the slot for good. */
  release(): void;
  /**
   * Lends the slot to other jobs. The returned function acquires a slot again, ahead of the queue, and rejects with
   * the signal's reason. At most as many jobs are paused as there are slots. One job more keeps its slot.
   */
  pause(): (signal: AbortSignal) => Promise<void>;
};

/** Limits the number of concurrent jobs. Further jobs wait in a queue. */
export function openSlots(max: number, waitMs: number) {
  let inUse = 0;
  let paused = 0;
  const queue: (() => void)[] = [];

  // The slot passes to the next in the queue without ever being free.
  const release = () => {
    const next = queue.shift();
    if (next === undefined) inUse -= 1;
    else next();
  };
  const acquire = async (signal: AbortSignal, resumes: boolean): Promise<void> => {
    signal.throwIfAborted();
    if (inUse < max) {
      inUse += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const fail = (error: unknown) => {
        const at = queue.indexOf(start);
        if (at !== -1) queue.splice(at, 1);
        stopWaiting();
        reject(error);
      };
      const onTimeout = () => fail(new LoginError('capacity', 'All browsers are busy.'));
      const timer = resumes ? undefined : setTimeout(onTimeout, waitMs);
      const onAbort = () => fail(signal.reason);
      const stopWaiting = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      };
      const start = () => {
        stopWaiting();
        resolve();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      if (resumes) queue.unshift(start);
      else queue.push(start);
    });
  };
  const openSlot = (): Slot => {
    let isHeld = true;
    let isReleased = false;
    return {
      release() {
        if (isHeld) release();
        isHeld = false;
        isReleased = true;
      },
      pause() {
        if (!isHeld || paused >= max) return () => Promise.resolve();
        isHeld = false;
        paused += 1;
        release();
        return async (signal) => {
          paused -= 1;
          if (isReleased) return;
          await acquire(signal, true);
          isHeld = !isReleased;
          if (isReleased) release();
        };
      },
    };
  };
  return {
    /** Throws `capacity` after `waitMs`, or the signal's reason. */
    async acquire(signal: AbortSignal): Promise<Slot> {
      await acquire(signal, false);
      return openSlot();
    },
    count: () => ({ inUse, paused, waiting: queue.length }),
  };
}
