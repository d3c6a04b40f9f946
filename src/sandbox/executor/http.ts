import { Agent, request as httpRequest } from 'node:http';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { SandboxError } from '../sandbox.ts';

/** Where an executor listens and what each request carries. `open` turns false when it is known to be gone. */
export type ExecutorAddress = {
  target: { socketPath: string } | { host: string; port: number };
  headers?: () => Record<string, string>;
};

/** Paths of 4 KiB, encoded, and the first bytes of a file travel in headers. */
const MAX_HEADER_BYTES = 64 * 1024;

export type HttpCall = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** of silence on the connection; default none */
  timeoutMs?: number;
};

export type ExecutorHttp = {
  /** Resolves at the response's head. Rejects with `SandboxError` when the executor cannot be reached. */
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
        headers: address.headers?.() ?? {},
      };
      const request = httpRequest(options, (response) => {
        // a break later on shows as an error of whoever reads the body
        response.on('error', () => undefined);
        // whoever reads a download slowly may take the time
        if (call.method === 'GET') request.setTimeout(0);
        // refused before its end: the rest is not sent, and the connection not used again
        if (!sent) response.once('end', () => request.destroy());
        resolve(response);
      });
      const fail = (error: Error): void => reject(new SandboxError('the sandbox cannot be reached', { cause: error }));
      request.on('error', fail);
      let sent = false;
      request.once('finish', () => {
        sent = true;
      });
      if (call.timeoutMs !== undefined) {
        request.setTimeout(call.timeoutMs, () => request.destroy(new Error('no sign of life')));
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

export async function readBody(response: IncomingMessage): Promise<Buffer> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks);
  } catch (error) {
    throw new SandboxError('the sandbox ended while it answered', { cause: error });
  }
}

/** In characters; what runs beside the executor may have taken it over, and must not fill this process. */
const MAX_LINE = 64 * 1024 * 1024;

/** The lines of an NDJSON body. */
export async function* readLines(response: IncomingMessage): AsyncGenerator<string> {
  // in pieces, so that a long line is looked through once
  let rest: string[] = [];
  let length = 0;
  response.setEncoding('utf8');
  try {
    for await (const chunk of response as AsyncIterable<string>) {
      const [first = '', ...more] = chunk.split('\n');
      rest.push(first);
      length += first.length;
      if (length > MAX_LINE) throw new Error('a line without an end');
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
