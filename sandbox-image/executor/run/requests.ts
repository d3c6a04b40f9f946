import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { MAX_OPEN_REQUESTS, MAX_REQUEST_LENGTH } from '../../../src/sandbox/protocol/executor.ts';

const MAX_CONNECTIONS = 32;
const TOO_LONG = refusal(`A call may have ${MAX_REQUEST_LENGTH} characters at most.`);

export type Requests = {
  /** False if the request is no longer waiting. */
  answer(request: number, text: string): boolean;
  close(): void;
};

/**
 * Accepts lines on a Unix socket, numbers them and keeps each connection open until its answer arrives. One request per
 * connection and 4 in all run at a time; others wait unread. Beyond `maxRequests` the answer is an error.
 */
export async function openRequests(
  path: string,
  maxRequests: number,
  onRequest: (request: number, text: string) => void,
): Promise<Requests> {
  const open = new Map<number, (text: string) => void>();
  const waiting: (() => void)[] = [];
  const sockets = new Set<Socket>();
  let count = 0;
  let held = 0;

  const ask = async (text: string): Promise<string> => {
    count += 1;
    if (count > maxRequests) return refusal('No more calls are taken from this script.');
    const request = count;
    if (held < MAX_OPEN_REQUESTS) held += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return new Promise((resolve) => {
      open.set(request, resolve);
      onRequest(request, text);
    });
  };

  const serve = async (socket: Socket): Promise<void> => {
    const decoder = new StringDecoder('utf8');
    let rest = '';
    let overlong = false;
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      rest += decoder.write(chunk);
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
        const line = rest.slice(0, end);
        rest = rest.slice(end + 1);
        const text = overlong || line.length > MAX_REQUEST_LENGTH ? TOO_LONG : await ask(line);
        overlong = false;
        if (socket.destroyed) return;
        socket.write(`${text}\n`);
      }
      if (rest.length <= MAX_REQUEST_LENGTH) continue;
      rest = '';
      overlong = true;
    }
  };

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
    serve(socket).catch(() => socket.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  return {
    answer(request, text) {
      const resolve = open.get(request);
      if (resolve === undefined) return false;
      open.delete(request);
      // a slot is handed to the next waiting connection, and released only if none waits
      const next = waiting.shift();
      if (next === undefined) held -= 1;
      else next();
      resolve(text);
      return true;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function refusal(error: string): string {
  return JSON.stringify({ error });
}
