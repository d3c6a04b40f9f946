import { MAX_OPEN_REQUESTS, MAX_REQUEST_LENGTH } from '../protocol/executor.ts';
import type { ScriptResult } from '../protocol/executor.ts';
import type { ExecutorClient } from './client.ts';
import { SandboxError } from '../sandbox.ts';
import type { ScriptRequest } from '../sandbox.ts';

/** The executor keeps the script's time; one that does not is cut off so much later. */
const LATE_MS = 10_000;

/** The worker's side of `runScript`: answers what the script asks, and ends what it still does for it at the script's end. */
export async function runScript(
  call: ExecutorClient['call'],
  { callId, answer, ...input }: ScriptRequest,
  signal: AbortSignal,
): Promise<ScriptResult> {
  const stop = new AbortController();
  const over = new AbortController();
  const during = AbortSignal.any([signal, over.signal]);
  const work = new Set<Promise<void>>();
  let failure: { error: unknown } | undefined;
  let asked = 0;
  let open = 0;

  const fail = (error: unknown): void => {
    // an answer that came to nothing since nobody wants it any more
    if (during.aborted) return;
    failure ??= { error };
    stop.abort();
  };

  // What runs beside the executor may have taken it over, so its word is not trusted.
  const onRequest = (request: number, line: string): void => {
    asked += 1;
    if (asked > input.maxRequests || open >= MAX_OPEN_REQUESTS || line.length > MAX_REQUEST_LENGTH) {
      return fail(new SandboxError('the sandbox does not keep to its protocol'));
    }
    open += 1;
    const done = answer(line, during)
      .finally(() => {
        open -= 1;
      })
      .then(async (text) => {
        if (!during.aborted) await call('answerScript', { call: callId, request, text });
      })
      .catch(fail)
      .finally(() => work.delete(done));
    work.add(done);
  };

  try {
    const limit = AbortSignal.any([signal, stop.signal, AbortSignal.timeout(input.timeoutMs + LATE_MS)]);
    const result = await call('runScript', input, { id: callId, signal: limit, onRequest });
    if (failure === undefined) return result;
  } catch (error) {
    failure ??= { error };
  } finally {
    over.abort();
    await Promise.all(work);
  }
  throw failure.error;
}
