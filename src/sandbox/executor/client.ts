import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { STAT_HEADER, isErrorBody, readExecutorFrame, readExecutorNotice } from '../protocol/executor.ts';
import type {
  ExecutorErrorBody,
  ExecutorFrame,
  ExecutorHealth,
  ExecutorNotice,
  ExecutorOperations,
  FileStat,
  WriteResult,
} from '../protocol/executor.ts';
import { openExecutorHttp, readBody, readLines } from './http.ts';
import type { ExecutorAddress, ExecutorHttp } from './http.ts';
import { runScript } from './script.ts';
import { SandboxError, SandboxFileError } from '../sandbox.ts';
import type { SandboxSession } from '../sandbox.ts';

/** After a cancel the executor has this long to end the tree and answer. */
const CANCEL_GRACE_MS = 5000;
const NEVER = new AbortController().signal;

export type ExecutorClient = SandboxSession & {
  /** One operation of the protocol. */
  call<O extends keyof ExecutorOperations>(
    operation: O,
    input: ExecutorOperations[O]['input'],
    options?: CallOptions,
  ): Promise<ExecutorOperations[O]['result']>;
  http: ExecutorHttp;
  health(): Promise<ExecutorHealth>;
  /** Until the executor ends or the client closes. */
  followNotices(handler: (notice: ExecutorNotice) => void): Promise<void>;
  close(): void;
};

type Operation = keyof ExecutorOperations;
type CallOptions = {
  id?: string;
  signal?: AbortSignal;
  timeoutMs?: number;
  /** what a script asks while the call runs */
  onRequest?: (request: number, text: string) => void;
};

/** The same client for every executor, in a child process or in a pod. `workspace` is what the executor was started with. */
export function openExecutorClient(address: ExecutorAddress, workspace: string): ExecutorClient {
  const http = openExecutorHttp(address);

  async function call<O extends Operation>(
    operation: O,
    input: ExecutorOperations[O]['input'],
    options: CallOptions = {},
  ): Promise<ExecutorOperations[O]['result']> {
    const id = options.id ?? randomUUID();
    const signal = options.signal ?? NEVER;
    let response: IncomingMessage | undefined;
    let timer: NodeJS.Timeout | undefined;
    const onAbort = (): void => {
      // the id travels with the cancel, so it works before the call's own answer has begun
      http.send({ method: 'DELETE', path: `/v1/calls/${encodeURIComponent(id)}` }).then(
        (answer) => answer.resume(),
        () => undefined,
      );
      timer = setTimeout(() => response?.destroy(new Error('not cancelled in time')), CANCEL_GRACE_MS);
    };
    try {
      if (signal.aborted && operation !== 'run') throw new SandboxError('the call was cancelled before it began');
      const body = JSON.stringify({ id, operation, input });
      const { timeoutMs } = options;
      const silence = timeoutMs === undefined ? {} : { timeoutMs };
      const send = () => http.send({ method: 'POST', path: '/v1/calls', body, ...silence });
      // a kept connection may have been closed meanwhile; the id makes the second try safe
      response = await send().catch(send);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      if (response.statusCode !== 200) throw await readError(response);
      let last: ExecutorFrame | undefined;
      // read to the end, so that the connection can be used again
      for await (const line of readLines(response)) {
        const frame = readExecutorFrame(line);
        if (frame?.type === 'request') options.onRequest?.(frame.request, frame.text);
        else last = frame ?? last;
      }
      if (last?.type === 'error') throw toSandboxError(last.error);
      if (last?.type === 'result') return last.value as ExecutorOperations[O]['result'];
      throw new SandboxError('the sandbox ended while it answered');
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  async function read(path: string, range: string): Promise<{ stat: FileStat; response: IncomingMessage }> {
    const target = `/v1/files?path=${encodeURIComponent(path)}${range}`;
    const response = await http.send({ method: 'GET', path: target });
    if (response.statusCode !== 200) throw await readError(response);
    const header = response.headers[STAT_HEADER];
    return { stat: JSON.parse(decodeURIComponent(String(header))) as FileStat, response };
  }

  return {
    call,
    http,
    workspace,
    run: ({ callId, ...input }, signal) => call('run', input, { id: callId, signal }),
    runScript: (request, signal) => runScript(call, request, signal),
    stat: async (path) => (await call('stat', { path })) ?? undefined,
    async readFile(path, range) {
      const query = range === undefined ? '' : `&offset=${range.offset}&length=${range.maxBytes}`;
      const { stat, response } = await read(path, query);
      return { stat, bytes: await readBody(response) };
    },
    async openFile(path) {
      const { stat, response } = await read(path, '');
      return { stat, body: response as AsyncIterable<Uint8Array> };
    },
    async writeFile(path, bytes, options = {}) {
      const query = new URLSearchParams({ path });
      for (const [name, value] of Object.entries(options)) query.set(name, String(value));
      const response = await http.send({ method: 'PUT', path: `/v1/files?${query.toString()}`, body: bytes });
      if (response.statusCode !== 200) throw await readError(response);
      return JSON.parse((await readBody(response)).toString('utf8')) as WriteResult;
    },
    async removeFile(path, options = {}) {
      await call('remove', { path, ...options });
    },
    async moveFile(from, to, options = {}) {
      await call('move', { from, to, ...options });
    },
    async copyFile(from, to, options = {}) {
      await call('copy', { from, to, ...options });
    },
    makeDirectory: (path) => call('makeDirectory', { path }),
    listDirectory: (path) => call('list', { path }),
    search: (request, signal) => call('search', request, { signal }),
    startProcess: ({ callId, ...input }) => call('startProcess', input, { id: callId }),
    listProcesses: () => call('listProcesses', {}),
    processOutput: async (id) => (await call('processOutput', { id })) ?? undefined,
    waitProcess: async (id, timeoutMs, signal) =>
      (await call('waitProcess', { id, timeoutMs }, { signal })) ?? undefined,
    killProcess: async (id) => (await call('killProcess', { id })) ?? undefined,
    writeProcess: (id, data) => call('writeProcess', { id, data }),
    closeProcessInput: (id) => call('closeProcessInput', { id }),
    async health() {
      const response = await http.send({ method: 'GET', path: '/healthz' });
      return JSON.parse((await readBody(response)).toString('utf8')) as ExecutorHealth;
    },
    async followNotices(handler) {
      const response = await http.send({ method: 'GET', path: '/v1/notices' });
      for await (const line of readLines(response)) {
        const notice = readExecutorNotice(line);
        if (notice !== undefined) handler(notice);
      }
    },
    close: () => http.close(),
  };
}

export async function readError(response: IncomingMessage): Promise<Error> {
  const text = (await readBody(response)).toString('utf8');
  try {
    const { error } = JSON.parse(text) as { error: unknown };
    if (isErrorBody(error)) return toSandboxError(error);
  } catch {
    // told below
  }
  return new SandboxError(`the sandbox answered with status ${response.statusCode}`);
}

/** A mistake of the caller is a file error too: it is the model's to mend, and the sandbox is well. */
export function toSandboxError(fault: ExecutorErrorBody): Error {
  return fault.kind === 'internal' ? new SandboxError(fault.message) : new SandboxFileError(fault.code, fault.message);
}
