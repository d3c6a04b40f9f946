import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { openExecutorClient } from '../../../src/sandbox/executor/client.ts';
import type { ExecutorClient } from '../../../src/sandbox/executor/client.ts';
import { buildCallExecutor } from '../../../src/sandbox/executor/calls.ts';
import { openExecutorHttp } from '../../../src/sandbox/executor/http.ts';
import { SandboxError, UnresponsiveError } from '../../../src/sandbox/sandbox.ts';
import type { ScriptRequest } from '../../../src/sandbox/sandbox.ts';
import { NEVER } from '../../support/sandbox.ts';

const closers: (() => void)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));

type Body = { id: string; operation: string; input: { request: number; text: string } };
type Executor = { client: ExecutorClient; cancelled: Promise<string>; answered: number[] };

/** An executor that a program of its sandbox has taken over. `speak` writes the response to a script. */
async function startExecutor(
  speak: (response: ServerResponse) => void,
  onAnswer: (request: number, response: ServerResponse) => void = () => undefined,
): Promise<Executor> {
  const cancelled = Promise.withResolvers<string>();
  const answered: number[] = [];
  let script: ServerResponse | undefined;
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    if (request.method === 'DELETE') {
      cancelled.resolve(decodeURIComponent(request.url?.split('/').at(-1) ?? ''));
      response.writeHead(202).end('{}');
      // it accepts the cancel, as it may accept anything
      script?.end(frame({ type: 'result', value: { output: '', errors: '', exitCode: 130, timedOut: false } }));
      return;
    }
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const { operation, input } = JSON.parse(text) as Body;
      response.writeHead(200);
      if (operation === 'runScript') {
        script = response;
        return speak(response);
      }
      answered.push(input.request);
      response.end(frame({ type: 'result', value: true }));
      if (script !== undefined) onAnswer(input.request, script);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = openExecutorClient({ target: { host: '127.0.0.1', port } }, '/workspace');
  closers.push(() => {
    client.close();
    server.close();
    server.closeAllConnections();
  });
  return { client, cancelled: cancelled.promise, answered };
}

const frame = (value: object) => `${JSON.stringify(value)}\n`;
const ask = (request: number, text = 'x') => frame({ type: 'request', request, text });

function run(client: ExecutorClient, answer: ScriptRequest['answer'], maxRequests = 10) {
  const script = { callId: 'call_1', command: '', files: {}, timeoutMs: 60_000, maxRequests, answer };
  return client.runScript(script, NEVER);
}

const untilAborted = (_line: string, signal: AbortSignal) =>
  new Promise<string>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });

describe('an executor that was taken over', () => {
  it('has no more requests open than agreed', async () => {
    const executor = await startExecutor((response) => {
      for (let request = 1; request <= 5; request += 1) response.write(ask(request));
    });
    let taken = 0;
    const ended = run(executor.client, (line, signal) => {
      taken += 1;
      return untilAborted(line, signal);
    });
    await expect(ended).rejects.toThrow(SandboxError);
    expect(taken).toBe(4);
    expect(await executor.cancelled).toBe('call_1');
  });

  it('makes no more requests than agreed', async () => {
    const executor = await startExecutor(
      (response) => response.write(ask(1)),
      (request, response) => response.write(ask(request + 1)),
    );
    let taken = 0;
    const ended = run(executor.client, async () => String((taken += 1)), 7);
    await expect(ended).rejects.toThrow(SandboxError);
    expect(taken).toBe(7);
    expect(executor.answered).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('sends no longer request than agreed', async () => {
    const executor = await startExecutor((response) => response.write(ask(1, 'x'.repeat(4 * 1024 * 1024 + 1))));
    await expect(run(executor.client, async () => '')).rejects.toThrow(SandboxError);
    expect(executor.answered).toEqual([]);
  });

  it('does not fill this process with a line that has no end', async () => {
    const executor = await startExecutor((response) => {
      const chunk = 'x'.repeat(1024 * 1024);
      const pump = (): void => {
        while (!response.destroyed && response.write(chunk));
        if (!response.destroyed) response.once('drain', pump);
      };
      pump();
    });
    await expect(run(executor.client, async () => '')).rejects.toThrow(SandboxError);
  });

  it('cannot pass garbage for a request or a result', async () => {
    const lines = ['garbage', '{}', '[]', 'null', '{"type":"request"}', '{"type":"request","request":"1","text":"x"}'];
    const executor = await startExecutor((response) => response.end(`${lines.join('\n')}\n`));
    await expect(run(executor.client, async () => '')).rejects.toThrow(SandboxError);
    expect(executor.answered).toEqual([]);
  });
});

it('an executor that floods the output of a command is no longer listened to', async () => {
  const line = frame({ type: 'output', text: 'x'.repeat(1000) });
  const { client } = await startRaw((_url, response) => {
    const pump = (): void => {
      while (!response.destroyed && response.write(line));
      if (!response.destroyed) response.once('drain', pump);
    };
    response.writeHead(200);
    pump();
  });
  const request = { callId: 'call_1', command: 'yes', timeoutMs: 60_000, onOutput: () => undefined };
  await expect(client.run(request, NEVER)).rejects.toThrow(SandboxError);
});

/** A server that answers each request by `speak`. */
async function startRaw(speak: (url: string, response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    request.resume().on('end', () => speak(request.url ?? '', response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const address = { target: { host: '127.0.0.1', port } };
  const client = openExecutorClient(address, '/workspace');
  const http = openExecutorHttp(address);
  closers.push(() => {
    client.close();
    http.close();
    server.close();
    server.closeAllConnections();
  });
  return { client, http };
}

/** Writes endlessly, as fast as the reader reads, and counts the bytes. */
function pour(response: ServerResponse, chunk: string, written: { bytes: number }): void {
  while (!response.destroyed && response.write(chunk)) written.bytes += chunk.length;
  if (!response.destroyed) response.once('drain', () => pour(response, chunk, written));
}

describe('an executor that does not stop to speak', () => {
  const MIB = 1024 * 1024;
  const command = { callId: 'call_1', command: 'true', timeoutMs: 60_000 };
  const calls: [string, (client: ExecutorClient) => Promise<unknown>][] = [
    ['run', (client) => client.run(command, NEVER)],
    ['stat', (client) => client.stat('x')],
    ['listProcesses', (client) => client.listProcesses()],
    ['usage', (client) => client.call('usage', {})],
    ['health', (client) => client.health()],
    ['writeFile', (client) => client.writeFile('x', Buffer.from('x'))],
    ['readFile', (client) => client.readFile('x', { offset: 0, maxBytes: MIB })],
  ];
  const streams: [string, string][] = [
    ['one endless line', 'x'.repeat(MIB)],
    ['endless frames', frame({ type: 'output', text: 'x'.repeat(1000) })],
    ['endless empty lines', '\n'.repeat(1000)],
    ['endless results', frame({ type: 'result', value: null })],
  ];
  const pairs = calls.flatMap(([name, call]) => streams.map(([kind, chunk]) => ({ name, call, kind, chunk })));

  it.each(pairs)('cannot fill the answer to $name with $kind', async ({ call, chunk }) => {
    const written = { bytes: 0 };
    const { client } = await startRaw((_, response) => {
      response.writeHead(200);
      pour(response, chunk, written);
    });
    await expect(call(client)).rejects.toThrow(SandboxError);
    expect(written.bytes).toBeLessThan(40 * MIB);
  });

  it.each(streams)('cannot keep its notices going with %s', async (_, chunk) => {
    const written = { bytes: 0 };
    const { client } = await startRaw((__, response) => {
      response.writeHead(200);
      pour(response, chunk, written);
    });
    await expect(client.followNotices(() => undefined)).rejects.toThrow(SandboxError);
    expect(written.bytes).toBeLessThan(40 * MIB);
  });
});

describe('an executor that does not speak', () => {
  it.each([
    ['before it answers', () => undefined],
    ['after it began to answer', (_: string, response: ServerResponse) => response.writeHead(200).flushHeaders()],
  ])('%s holds a call no longer than its time limit and some grace', async (_, speak) => {
    const { http } = await startRaw(speak);
    const call = buildCallExecutor(http, 100);
    const ended = call('run', { command: 'true', timeoutMs: 50 });
    await expect(ended).rejects.toThrow(UnresponsiveError);
  });
});
