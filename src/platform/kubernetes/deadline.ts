/**
 * Runs `work` with a signal that aborts after `ms`, or with `parent`; throws what it aborted for. When the work is done
 * nothing is kept of it, while `AbortSignal.timeout` and `.any` keep each call until its time is over.
 */
export async function runWithin<T>(
  ms: number,
  parent: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  parent?.throwIfAborted();
  const own = new AbortController();
  const abort = (): void => own.abort(parent?.reason);
  const timer = setTimeout(() => own.abort(new Error(`no answer within ${ms} ms`)), ms);
  parent?.addEventListener('abort', abort, { once: true });
  try {
    return await work(own.signal);
  } catch (error) {
    throw own.signal.aborted ? own.signal.reason : error;
  } finally {
    clearTimeout(timer);
    parent?.removeEventListener('abort', abort);
  }
}
