// Tests: test/sandbox/executor
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ExecutorFrame, ExecutorOperation, ExecutorOperations } from '../protocol/executor.ts';
import { HandoverError, SandboxError, SandboxUnreachedError, UnresponsiveError } from '../sandbox.ts';
import { maxLineLength, readError, readResult, toSandboxError } from './answers.ts';
import { readExecutorFrame } from './frames.ts';
import { readLines } from './http.ts';
import type { ExecutorHttp } from './http.ts';

/** After a cancel the executor has this long to kill the process tree and answer. */
const CANCEL_GRACE_MS = 5000;
/** The executor enforces the time limit of a call; this much later the worker gives up. */
const TIMEOUT_GRACE_MS = 15_000;
/** The time limit of calls without their own. */
const CALL_TIMEOUT_MS = 120_000;
/** Executors send five pieces of output a second. One that sends far more is no longer listened to. */
const OUTPUT_FRAMES_PER_SECOND = 20;
const MAX_OUTPUT_LENGTH = 16_000;
const NEVER = new AbortController().signal;

export type CallOptions = {
  /** default: a new one */
  id?: string;
  signal?: AbortSignal;
  /** of silence on the connection; default: none */
  timeoutMs?: number;
  /** called with each request that a script makes while the call runs */
  onRequest?: (request: number, text: string) => void;
  /** called with pieces of the output of a command that runs with `stream` */
  onOutput?: (text: string) => void;
};

/**
 * Runs one operation of the protocol. Rejects with `SandboxFileError` or `SandboxError`; with `UnresponsiveError` when
 * there is no answer 15 seconds after the call's own time limit, or after 2 minutes where it has none.
 */
export type CallExecutor = <O extends ExecutorOperation>(
  operation: O,
  input: ExecutorOperations[O]['input'],
  options?: CallOptions,
) => Promise<ExecutorOperations[O]['result']>;

/** `graceMs`: see `TIMEOUT_GRACE_MS`. */
export function buildCallExecutor(http: ExecutorHttp, graceMs = TIMEOUT_GRACE_MS): CallExecutor {
  return async (operation, input, options = {}) => {
    const id = options.id ?? randomUUID();
    const signal = options.signal ?? NEVER;
    if (signal.aborted && operation !== 'run') throw new SandboxError('the call was cancelled before it began');
    const clock = startClock(operation, input, graceMs);
    const cancel = watchAbort(signal, () => sendCancel(http, id), clock);
    try {
      const body = JSON.stringify({ id, operation, input });
      const { timeoutMs } = options;
      const limit = timeoutMs === undefined ? {} : { timeoutMs };
      const send = () => http.send({ method: 'POST', path: '/v1/calls', body, signal: clock.signal, ...limit });
      const response = await sendTwice(send);
      cancel.onBegun();
      if (response.statusCode !== 200) throw await readError(response);
      const last = await readLastFrame(response, maxLineLength(operation), options);
      if (last?.type === 'error') throw toSandboxError(last.error);
      if (last?.type === 'result') return readResult(operation, last.value);
      throw new SandboxError('the sandbox ended while it answered');
    } catch (error) {
      throw clock.error() ?? error;
    } finally {
      clock.stop();
      cancel.stop();
    }
  };
}

/**
 * A kept-alive connection may have been closed meanwhile; the id makes the retry safe. Throws `SandboxUnreachedError` only
 * where neither try made a connection.
 */
async function sendTwice<T>(send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (first) {
    return send().catch((error: unknown) => {
      throw first instanceof SandboxUnreachedError ? error : first;
    });
  }
}

type Clock = {
  signal: AbortSignal;
  /** why the call was given up */
  error(): Error | undefined;
  expireIn(ms: number): void;
  /** gives the call up at once */
  leave(reason: Error): void;
  stop(): void;
};

/** Its signal is aborted with an `UnresponsiveError` when the call's time is over. */
function startClock(operation: ExecutorOperation, input: object, graceMs: number): Clock {
  const abort = new AbortController();
  const own = 'timeoutMs' in input && typeof input.timeoutMs === 'number' ? input.timeoutMs : undefined;
  let error: Error | undefined;
  const leave = (reason: Error): void => {
    error = reason;
    abort.abort(reason);
  };
  const expireIn = (ms: number): NodeJS.Timeout =>
    setTimeout(() => {
      leave(new UnresponsiveError(`the sandbox did not answer in time (${operation}) and is stopped`));
    }, ms);
  const timers = [expireIn(own === undefined ? CALL_TIMEOUT_MS : own + graceMs)];
  return {
    signal: abort.signal,
    error: () => error,
    expireIn: (ms) => void timers.push(expireIn(ms)),
    leave,
    stop: () => timers.forEach((timer) => clearTimeout(timer)),
  };
}

/**
 * When `signal` is aborted, the cancel is sent after the executor has started the call, because it does not know the id
 * earlier. Without a timely answer the call ends anyway. Where another process takes the call over, it is not cancelled.
 */
function watchAbort(signal: AbortSignal, tell: () => void, clock: Clock) {
  let begun = false;
  const onAbort = (): void => {
    if (signal.reason instanceof HandoverError) return clock.leave(signal.reason);
    clock.expireIn(CANCEL_GRACE_MS);
    if (begun) tell();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return {
    onBegun(): void {
      begun = true;
      if (signal.aborted && !(signal.reason instanceof HandoverError)) tell();
    },
    stop: () => signal.removeEventListener('abort', onAbort),
  };
}

/** Cancels a call by its id, which works before the call's response has started. */
function sendCancel(http: ExecutorHttp, id: string): void {
  const path = `/v1/calls/${encodeURIComponent(id)}`;
  http.send({ method: 'DELETE', path, timeoutMs: CANCEL_GRACE_MS }).then(
    (answer) => answer.resume(),
    () => undefined,
  );
}

/**
 * Reads to the end, so that the connection can be reused. Throws `SandboxError` when anything follows the last frame.
 */
async function readLastFrame(
  response: IncomingMessage,
  maxLength: number,
  { onRequest, onOutput }: CallOptions,
): Promise<ExecutorFrame | undefined> {
  let last: ExecutorFrame | undefined;
  const takeOutput = onOutput === undefined ? undefined : limitOutput(onOutput);
  for await (const line of readLines(response, maxLength)) {
    if (last !== undefined) throw new SandboxError('the sandbox violated its protocol');
    const frame = readExecutorFrame(line);
    if (frame?.type === 'request') onRequest?.(frame.request, frame.text);
    else if (frame?.type === 'output' && takeOutput !== undefined) takeOutput(frame.text);
    else if (frame === undefined || frame.type === 'output')
      throw new SandboxError('the sandbox violated its protocol');
    else last = frame;
  }
  return last;
}

/** Throws `SandboxError` when pieces come faster than an executor sends them. */
function limitOutput(onOutput: (text: string) => void): (text: string) => void {
  const started = performance.now();
  let count = 0;
  return (text) => {
    count += 1;
    const allowed = OUTPUT_FRAMES_PER_SECOND * (1 + (performance.now() - started) / 1000);
    if (count > allowed) throw new SandboxError('the sandbox violated its protocol');
    onOutput(text.slice(-MAX_OUTPUT_LENGTH));
  };
}
