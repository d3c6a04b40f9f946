import type { IncomingMessage } from 'node:http';
import type { ExecutorHealth, ExecutorNotice, FileStat } from '../protocol/executor.ts';
import type { SandboxSession } from '../sandbox.ts';
import { readError, readHealth, readStatHeader, readWriteResult } from './answers.ts';
import { buildCallExecutor } from './calls.ts';
import type { CallExecutor } from './calls.ts';
import { SILENCE_MS, openExecutorHttp, readBody, readChunks } from './http.ts';
import type { ExecutorAddress, ExecutorHttp } from './http.ts';
import { readNotices } from './notices.ts';
import { runScript } from './script.ts';

export type ExecutorClient = SandboxSession & {
  call: CallExecutor;
  http: ExecutorHttp;
  health(): Promise<ExecutorHealth>;
  /** Resolves when the executor ends or the client closes. Rejects with `SandboxError` when it sends too much. */
  followNotices(handler: (notice: ExecutorNotice) => void): Promise<void>;
  /** Whether a process was started through this client with a request for notices; starts in progress are awaited. */
  expectsNotices(processId: string): Promise<boolean>;
  /** Whether any command was run: it may have left processes behind. */
  hasRunCommand(): boolean;
  /** Whether any background process was started through this client. */
  hasStartedProcess(): boolean;
  close(): void;
};

/** Processes whose notices are expected, per executor, which runs 64 at most. */
const MAX_WATCHED = 256;

/**
 * The client of one executor, in a child process or in a pod. `workspace` is the path that the executor was started
 * with.
 */
export function openExecutorClient(address: ExecutorAddress, workspace: string): ExecutorClient {
  const http = openExecutorHttp(address);
  const call = buildCallExecutor(http);
  let hasRun = false;
  return {
    call,
    http,
    workspace,
    hasRunCommand: () => hasRun,
    run({ callId, onOutput, ...input }, signal) {
      hasRun = true;
      if (onOutput === undefined) return call('run', input, { id: callId, signal });
      return call('run', { ...input, stream: true }, { id: callId, signal, onOutput });
    },
    hasCall: (callId) => call('hasCall', { call: callId }),
    runScript: (request, signal) => runScript(call, request, signal),
    ...buildFileMethods(http, call),
    search: (request, signal) => call('search', request, { signal }),
    ...buildProcessMethods(call),
    ...trackProcesses(call),
    health: async () => readHealth(await http.send({ method: 'GET', path: '/healthz', timeoutMs: SILENCE_MS })),
    followNotices: async (handler) => readNotices(await http.send({ method: 'GET', path: '/v1/notices' }), handler),
    close: () => http.close(),
  };
}

type FileMethods = Pick<
  SandboxSession,
  | 'stat'
  | 'readFile'
  | 'openFile'
  | 'writeFile'
  | 'removeFile'
  | 'moveFile'
  | 'copyFile'
  | 'makeDirectory'
  | 'listDirectory'
>;

function buildFileMethods(http: ExecutorHttp, call: CallExecutor): FileMethods {
  const read = async (path: string, range: string): Promise<{ stat: FileStat; response: IncomingMessage }> => {
    const target = `/v1/files?path=${encodeURIComponent(path)}${range}`;
    const response = await http.send({ method: 'GET', path: target, timeoutMs: SILENCE_MS });
    if (response.statusCode !== 200) throw await readError(response);
    return { stat: readStatHeader(response), response };
  };
  return {
    stat: async (path) => (await call('stat', { path })) ?? undefined,
    async readFile(path, range) {
      const query = range === undefined ? '' : `&offset=${range.offset}&length=${range.maxBytes}`;
      const { stat, response } = await read(path, query);
      return { stat, bytes: await readBody(response, range?.maxBytes) };
    },
    async openFile(path) {
      const { stat, response } = await read(path, '');
      return { stat, body: readChunks(response, SILENCE_MS) };
    },
    async writeFile(path, bytes, options = {}) {
      const query = new URLSearchParams({ path });
      for (const [name, value] of Object.entries(options)) query.set(name, String(value));
      const target = `/v1/files?${query.toString()}`;
      const response = await http.send({ method: 'PUT', path: target, body: bytes, timeoutMs: SILENCE_MS });
      if (response.statusCode !== 200) throw await readError(response);
      return readWriteResult(response);
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
  };
}

type ProcessMethods = Pick<
  SandboxSession,
  'listProcesses' | 'processOutput' | 'waitProcess' | 'killProcess' | 'writeProcess' | 'closeProcessInput'
>;

function buildProcessMethods(call: CallExecutor): ProcessMethods {
  return {
    listProcesses: () => call('listProcesses', {}),
    processOutput: async (id) => (await call('processOutput', { id })) ?? undefined,
    waitProcess: async (id, timeoutMs, signal) =>
      (await call('waitProcess', { id, timeoutMs }, { signal })) ?? undefined,
    killProcess: async (id) => (await call('killProcess', { id })) ?? undefined,
    writeProcess: (id, data) => call('writeProcess', { id, data }),
    closeProcessInput: (id) => call('closeProcessInput', { id }),
  };
}

/** An executor may report anything about its processes, so the requests made here decide. */
function trackProcesses(
  call: CallExecutor,
): Pick<ExecutorClient, 'startProcess' | 'expectsNotices' | 'hasStartedProcess'> {
  const watched = new Set<string>();
  const starting = new Set<Promise<unknown>>();
  let hasStarted = false;
  return {
    async startProcess({ callId, ...input }) {
      hasStarted = true;
      const started = call('startProcess', input, { id: callId });
      const settled = started.then(
        () => undefined,
        () => undefined,
      );
      starting.add(settled);
      try {
        const info = await started;
        if (input.notifyOnComplete || input.watchPatterns.length > 0) watched.add(info.id);
        for (const oldest of watched) if (watched.size > MAX_WATCHED) watched.delete(oldest);
        return info;
      } finally {
        starting.delete(settled);
      }
    },
    async expectsNotices(processId) {
      if (!watched.has(processId)) await Promise.all(starting);
      return watched.has(processId);
    },
    hasStartedProcess: () => hasStarted,
  };
}
