import { MAX_OPEN_REQUESTS, MAX_REQUEST_LENGTH } from '../protocol/executor.ts';
import type { ScriptResult } from '../protocol/executor.ts';
import { SandboxError } from '../sandbox.ts';
import type { ScriptRequest } from '../sandbox.ts';
import type { CallExecutor } from './calls.ts';

/** The executor enforces the script's timeout. If it does not, the call is cancelled this much later. */
const GRACE_MS = 10_000;

/** The worker's side of `runScript`: answers the script's requests, and aborts those still open when it ends. */
export async function runScript(
  call: CallExecutor,
  { callId, answer, ...input }: ScriptRequest,
  signal: AbortSignal,
): Promise<ScriptResult> {
  const stop = new AbortController();
  const ended = new AbortController();
  const running = AbortSignal.any([signal, ended.signal]);
  const work = new Set<Promise<void>>();
  let failure: { error: unknown } | undefined;
  let count = 0;
  let open = 0;

  const fail = (error: unknown): void => {
    // an aborted answer is no failure
    if (running.aborted) return;
    failure ??= { error };
    stop.abort();
  };

  // A program in the sandbox may have compromised the executor, so the limits are enforced here too.
  const onRequest = (request: number, line: string): void => {
    count += 1;
    if (count > input.maxRequests || open >= MAX_OPEN_REQUESTS || line.length > MAX_REQUEST_LENGTH) {
      return fail(new SandboxError('the sandbox violated its protocol'));
    }
    open += 1;
    const done = answer(line, running)
      .finally(() => {
        open -= 1;
      })
      .then(async (text) => {
        if (!running.aborted) await call('answerScript', { call: callId, request, text });
      })
      .catch(fail)
      .finally(() => work.delete(done));
    work.add(done);
  };

  try {
    const limit = AbortSignal.any([signal, stop.signal, AbortSignal.timeout(input.timeoutMs + GRACE_MS)]);
    const result = await call('runScript', input, { id: callId, signal: limit, onRequest });
    if (failure === undefined) return result;
  } catch (error) {
    failure ??= { error };
  } finally {
    ended.abort();
    await Promise.all(work);
  }
  throw failure.error;
}
