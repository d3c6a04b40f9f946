/**
 * Waits for `work` until `signal` aborts, then throws the signal's reason. The work itself goes on; a result that comes
 * after the abort is passed to `onLateResult`.
 */
export function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal,
  onLateResult: (result: T) => void = () => {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      work.then(onLateResult, () => undefined);
      reject(signal.reason as Error);
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Waits for `work` at most `ms`, then throws an error that names `what`. The work itself goes on. */
export async function withTimeout<T>(ms: number, work: Promise<T>, what: string): Promise<T> {
  const expiry = Promise.withResolvers<never>();
  const timer = setTimeout(() => expiry.reject(new Error(`${what} took longer than ${ms} ms`)), ms);
  try {
    return await Promise.race([work, expiry.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs `work` with a signal that aborts after `ms` or with `parent`; throws the reason of the abort. Unlike
 * `AbortSignal.timeout` and `AbortSignal.any`, the timer and the listener are gone as soon as the work is done.
 */
export async function runWithin<T>(
  ms: number,
  parent: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  parent?.throwIfAborted();
  const own = new AbortController();
  const onAbort = (): void => own.abort(parent?.reason);
  const timer = setTimeout(() => own.abort(new Error(`no answer within ${ms} ms`)), ms);
  parent?.addEventListener('abort', onAbort, { once: true });
  try {
    return await work(own.signal);
  } catch (error) {
    throw own.signal.aborted ? own.signal.reason : error;
  } finally {
    clearTimeout(timer);
    parent?.removeEventListener('abort', onAbort);
  }
}
