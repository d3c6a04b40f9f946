import { Agent, request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { traceHeaders } from '../../platform/work-context.ts';
import { SandboxError, SandboxUnreachedError } from '../sandbox.ts';

/** Where an executor listens, and the headers of each request. */
export type ExecutorAddress = {
  target: { socketPath: string } | { host: string; port: number };
  headers?: () => Record<string, string>;
};

/** A call fails after this long without data from the executor. */
export const SILENCE_MS = 60_000;

/** Headers carry encoded paths of up to 4 KiB and the first bytes of a file. */
const MAX_HEADER_BYTES = 64 * 1024;

/** A program in the sandbox may have compromised the executor: its responses must not exhaust this process's memory. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** The time limit for reading a body into memory. */
const BODY_TIMEOUT_MS = 120_000;

export type HttpCall = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** of silence on the connection; default: none */
  timeoutMs?: number;
  /** ends the request and the response */
  signal?: AbortSignal;
};

export type ExecutorHttp = {
  /**
   * Resolves when the response's headers have arrived. Rejects with `SandboxError` if the executor is unreachable, and with
   * `SandboxUnreachedError` where not even a connection was made.
   */
  send(call: HttpCall): Promise<IncomingMessage>;
  close(): void;
};

export function openExecutorHttp(address: ExecutorAddress): ExecutorHttp {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const send = (call: HttpCall): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const options: RequestOptions = {
        ...address.target,
        agent,
        maxHeaderSize: MAX_HEADER_BYTES,
        method: call.method,
        path: call.path,
        headers: { ...address.headers?.(), ...traceHeaders() },
        ...(call.signal === undefined ? {} : { signal: call.signal }),
      };
      const request = httpRequest(options, (response) => {
        // the reader of the body gets later errors
        response.on('error', () => undefined);
        // a slow reader of a download does not mean that the executor is silent
        if (call.method === 'GET') request.setTimeout(0);
        // answered before the request was sent: the rest is not sent, and the connection is not reused
        if (!sent) response.once('end', () => request.destroy());
        resolve(response);
      });
      request.on('error', (error) => reject(describeFailure(error)));
      let sent = false;
      request.once('finish', () => {
        sent = true;
      });
      if (call.timeoutMs !== undefined) {
        request.setTimeout(call.timeoutMs, () => request.destroy(new Error(`no data within ${call.timeoutMs} ms`)));
      }
      const { body } = call;
      if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) request.end(body);
      else {
        void (async () => {
          for await (const chunk of body) {
            if (request.destroyed) return;
            if (!request.write(chunk)) await drained(request);
          }
          request.end();
        })().catch((error: unknown) => {
          request.destroy();
          reject(error instanceof Error ? error : new Error(String(error)));
        });
      }
    });
  return { send, close: () => agent.destroy() };
}

function describeFailure(error: Error): SandboxError {
  const isUnreached = 'syscall' in error && error.syscall === 'connect';
  const Failure = isUnreached ? SandboxUnreachedError : SandboxError;
  return new Failure('the sandbox cannot be reached', { cause: error });
}

function drained(request: NodeJS.EventEmitter): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      request.off('drain', done);
      request.off('close', done);
      resolve();
    };
    request.on('drain', done);
    request.on('close', done);
  });
}

/**
 * The whole body. Throws `SandboxError` past `maxBytes` (64 MiB by default), after 2 minutes and when the connection
 * breaks.
 */
export async function readBody(response: IncomingMessage, maxBytes = MAX_BODY_BYTES): Promise<Buffer> {
  const timer = setTimeout(() => response.destroy(new Error('the body took too long')), BODY_TIMEOUT_MS);
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new Error(`the body has more than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    throw new SandboxError('the sandbox ended while it answered', { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The body as it comes. Throws `SandboxError` when the executor sends nothing for `silenceMs` while the reader waits.
 */
export async function* readChunks(response: IncomingMessage, silenceMs: number): AsyncGenerator<Uint8Array> {
  const chunks = (response as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const timer = setTimeout(() => response.destroy(new Error(`no data within ${silenceMs} ms`)), silenceMs);
      const next = await chunks.next().finally(() => clearTimeout(timer));
      if (next.done === true) return;
      yield next.value;
    }
  } catch (error) {
    throw new SandboxError('the sandbox ended while it answered', { cause: error });
  } finally {
    response.destroy();
  }
}

/** The lines of an NDJSON body. Throws `SandboxError` for a line of more than `maxLength` characters. */
export async function* readLines(response: IncomingMessage, maxLength: number): AsyncGenerator<string> {
  // kept in pieces, so that each chunk is scanned once
  let rest: string[] = [];
  let length = 0;
  response.setEncoding('utf8');
  try {
    for await (const chunk of response as AsyncIterable<string>) {
      const [first = '', ...more] = chunk.split('\n');
      rest.push(first);
      length += first.length;
      if (length > maxLength) throw new Error('the line is too long');
      const last = more.pop();
      if (last === undefined) continue;
      yield rest.join('');
      yield* more;
      rest = [last];
      length = last.length;
    }
  } catch (error) {
    throw new SandboxError('the sandbox ended while it answered', { cause: error });
  }
  if (length > 0) yield rest.join('');
}
