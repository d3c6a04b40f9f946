import { LoginError } from '../login-error.ts';

/** A place among those that go on at a time. */
export type Place = {
  /** Gives it back, for good. */
  leave(): void;
  /**
   * Lends it to others while nothing goes on here. The function takes it back, before whoever is in line; it rejects
   * with the signal's reason. As many may rest as there are places; what is more keeps its place.
   */
  rest(): (signal: AbortSignal) => Promise<void>;
};

/** Bounds how much goes on at a time; who finds no room waits in line. */
export function openSlots(max: number, waitMs: number) {
  let taken = 0;
  let resting = 0;
  const line: (() => void)[] = [];

  // It goes on to the next in line without ever being free.
  const giveBack = () => {
    const next = line.shift();
    if (next === undefined) taken -= 1;
    else next();
  };
  const enter = async (signal: AbortSignal, resumes: boolean): Promise<void> => {
    signal.throwIfAborted();
    if (taken < max) {
      taken += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const stop = (error: unknown) => {
        const at = line.indexOf(begin);
        if (at !== -1) line.splice(at, 1);
        settle();
        reject(error);
      };
      const busy = () => stop(new LoginError('capacity', 'All browsers are busy.'));
      const timer = resumes ? undefined : setTimeout(busy, waitMs);
      const abort = () => stop(signal.reason);
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };
      const begin = () => {
        settle();
        resolve();
      };
      signal.addEventListener('abort', abort, { once: true });
      if (resumes) line.unshift(begin);
      else line.push(begin);
    });
  };
  const openPlace = (): Place => {
    let held = true;
    let left = false;
    return {
      leave() {
        if (held) giveBack();
        held = false;
        left = true;
      },
      rest() {
        if (!held || resting >= max) return () => Promise.resolve();
        held = false;
        resting += 1;
        giveBack();
        return async (signal) => {
          resting -= 1;
          if (left) return;
          await enter(signal, true);
          held = !left;
          if (left) giveBack();
        };
      },
    };
  };
  return {
    /** Throws `capacity` after `waitMs`, or the signal's reason. */
    async take(signal: AbortSignal): Promise<Place> {
      await enter(signal, false);
      return openPlace();
    },
    /** how many have a place, and how many wait in line for one */
    count: () => ({ taken, waiting: line.length, resting }),
  };
}
