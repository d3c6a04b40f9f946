import type { IncomingMessage } from 'node:http';
import { readExecutorNotice } from '../protocol/executor.ts';
import type { ExecutorHealth, ExecutorNotice, FileStat } from '../protocol/executor.ts';
import type { SandboxSession } from '../sandbox.ts';
import { readError, readHealth, readStatHeader, readWriteResult } from './answers.ts';
import { buildCallExecutor } from './calls.ts';
import type { CallExecutor } from './calls.ts';
import { openExecutorHttp, readBody, readLines } from './http.ts';
import type { ExecutorAddress, ExecutorHttp } from './http.ts';
import { runScript } from './script.ts';

export type ExecutorClient = SandboxSession & {
  call: CallExecutor;
  http: ExecutorHttp;
  health(): Promise<ExecutorHealth>;
  /** Resolves when the executor ends or the client closes. */
  followNotices(handler: (notice: ExecutorNotice) => void): Promise<void>;
  close(): void;
};

/** The client of one executor, in a child process or in a pod. `workspace` is the path that the executor was started with. */
export function openExecutorClient(address: ExecutorAddress, workspace: string): ExecutorClient {
  const http = openExecutorHttp(address);
  const call = buildCallExecutor(http);
  return {
    call,
    http,
    workspace,
    run: ({ callId, ...input }, signal) => call('run', input, { id: callId, signal }),
    runScript: (request, signal) => runScript(call, request, signal),
    ...buildFileMethods(http, call),
    search: (request, signal) => call('search', request, { signal }),
    ...buildProcessMethods(call),
    health: async () => readHealth(await http.send({ method: 'GET', path: '/healthz' })),
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
    const response = await http.send({ method: 'GET', path: target });
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
      return { stat, body: response as AsyncIterable<Uint8Array> };
    },
    async writeFile(path, bytes, options = {}) {
      const query = new URLSearchParams({ path });
      for (const [name, value] of Object.entries(options)) query.set(name, String(value));
      const response = await http.send({ method: 'PUT', path: `/v1/files?${query.toString()}`, body: bytes });
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
  | 'startProcess'
  | 'listProcesses'
  | 'processOutput'
  | 'waitProcess'
  | 'killProcess'
  | 'writeProcess'
  | 'closeProcessInput'
>;

function buildProcessMethods(call: CallExecutor): ProcessMethods {
  return {
    startProcess: ({ callId, ...input }) => call('startProcess', input, { id: callId }),
    listProcesses: () => call('listProcesses', {}),
    processOutput: async (id) => (await call('processOutput', { id })) ?? undefined,
    waitProcess: async (id, timeoutMs, signal) =>
      (await call('waitProcess', { id, timeoutMs }, { signal })) ?? undefined,
    killProcess: async (id) => (await call('killProcess', { id })) ?? undefined,
    writeProcess: (id, data) => call('writeProcess', { id, data }),
    closeProcessInput: (id) => call('closeProcessInput', { id }),
  };
}
