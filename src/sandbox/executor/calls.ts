import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { readExecutorFrame } from '../protocol/executor.ts';
import type { ExecutorFrame, ExecutorOperation, ExecutorOperations } from '../protocol/executor.ts';
import { SandboxError } from '../sandbox.ts';
import { readError, readResult, toSandboxError } from './answers.ts';
import { readLines } from './http.ts';
import type { ExecutorHttp } from './http.ts';

/** After a cancel the executor has this long to kill the process tree and answer. */
const CANCEL_GRACE_MS = 5000;
const NEVER = new AbortController().signal;

export type CallOptions = {
  /** default: a new one */
  id?: string;
  signal?: AbortSignal;
  /** of silence on the connection; default: none */
  timeoutMs?: number;
  /** called with each request that a script makes while the call runs */
  onRequest?: (request: number, text: string) => void;
};

/** Runs one operation of the protocol. Rejects with `SandboxFileError` or `SandboxError`. */
export type CallExecutor = <O extends ExecutorOperation>(
  operation: O,
  input: ExecutorOperations[O]['input'],
  options?: CallOptions,
) => Promise<ExecutorOperations[O]['result']>;

export function buildCallExecutor(http: ExecutorHttp): CallExecutor {
  return async (operation, input, options = {}) => {
    const id = options.id ?? randomUUID();
    const signal = options.signal ?? NEVER;
    let response: IncomingMessage | undefined;
    let timer: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      sendCancel(http, id);
      timer = setTimeout(() => response?.destroy(new Error('not cancelled in time')), CANCEL_GRACE_MS);
    };
    try {
      if (signal.aborted && operation !== 'run') throw new SandboxError('the call was cancelled before it began');
      const body = JSON.stringify({ id, operation, input });
      const { timeoutMs } = options;
      const limit = timeoutMs === undefined ? {} : { timeoutMs };
      const send = () => http.send({ method: 'POST', path: '/v1/calls', body, ...limit });
      // A kept-alive connection may have been closed meanwhile; the id makes the retry safe.
      response = await send().catch(send);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      if (response.statusCode !== 200) throw await readError(response);
      const last = await readLastFrame(response, options.onRequest);
      if (last?.type === 'error') throw toSandboxError(last.error);
      if (last?.type === 'result') return readResult(operation, last.value);
      throw new SandboxError('the sandbox ended while it answered');
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  };
}

/** The cancel names the call by its id, so it works before the call's own answer has begun. */
function sendCancel(http: ExecutorHttp, id: string): void {
  http.send({ method: 'DELETE', path: `/v1/calls/${encodeURIComponent(id)}` }).then(
    (answer) => answer.resume(),
    () => undefined,
  );
}

/** Reads to the end, so that the connection can be reused. */
async function readLastFrame(
  response: IncomingMessage,
  onRequest: CallOptions['onRequest'],
): Promise<ExecutorFrame | undefined> {
  let last: ExecutorFrame | undefined;
  for await (const line of readLines(response)) {
    const frame = readExecutorFrame(line);
    if (frame?.type === 'request') onRequest?.(frame.request, frame.text);
    else last = frame ?? last;
  }
  return last;
}
