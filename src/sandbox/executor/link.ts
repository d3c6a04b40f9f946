import { request as httpRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { isErrorBody } from '../protocol/executor.ts';
import { LINK_PROTOCOL, encodeLinkFrame, openLinkReader, writeSoon } from '../protocol/link.ts';
import type { LinkRequest } from '../protocol/link.ts';
import { toSandboxError } from './answers.ts';
import { isRecord } from '../../platform/records.ts';
import { SandboxError } from '../sandbox.ts';

/** `head` is unchecked; see `answers.ts`. */
type Answer = { head: unknown; body: Uint8Array };
type Waiting = { resolve: (answer: Answer) => void; reject: (error: Error) => void };

export type ExecutorLink = {
  /** Rejects with `SandboxFileError` when the executor refuses, and `SandboxError` when it is unreachable or silent. */
  send(request: LinkRequest, body?: Uint8Array): Promise<Answer>;
  close(): void;
};

/** Connects at the first request, and again after an error. `silenceMs` without an answer closes the connection. */
export function openExecutorLink(socketPath: string, silenceMs: number): ExecutorLink {
  const waiting = new Map<number, Waiting>();
  let opening: Promise<Duplex> | undefined;
  let next = 1;

  const fail = (error: unknown): void => {
    opening = undefined;
    const reason = new SandboxError('the sandbox ended while it answered', { cause: error });
    for (const { reject } of waiting.values()) reject(reason);
    waiting.clear();
  };

  const open = async (): Promise<Duplex> => {
    const { socket, first } = await connect(socketPath);
    const read = openLinkReader();
    const onData = (chunk: Buffer): void => {
      try {
        for (const { id, head, body } of read(chunk)) {
          const found = waiting.get(id);
          // a request that is out of time closes the connection, so every answer has its request
          if (found === undefined) throw new Error('an answer without a request');
          waiting.delete(id);
          found.resolve({ head, body });
        }
      } catch (error) {
        socket.destroy(error as Error);
      }
    };
    socket.on('error', () => undefined);
    socket.on('close', fail);
    socket.on('data', onData);
    if (first.length > 0) onData(first);
    return socket;
  };

  return {
    async send(request, body) {
      opening ??= open();
      const socket = await opening.catch((error: unknown) => {
        opening = undefined;
        throw new SandboxError('the sandbox cannot be reached', { cause: error });
      });
      const id = next;
      next = next === 0xffffffff ? 1 : next + 1;
      const { head, body: bytes } = await new Promise<Answer>((resolve, reject) => {
        const timer = setTimeout(() => socket.destroy(new Error(`no answer within ${silenceMs} ms`)), silenceMs);
        const settle = () => clearTimeout(timer);
        waiting.set(id, {
          resolve(answer) {
            settle();
            resolve(answer);
          },
          reject(error) {
            settle();
            reject(error);
          },
        });
        if (socket.destroyed) fail(undefined);
        else writeSoon(socket, encodeLinkFrame(id, request, body));
      });
      const error = isRecord(head) ? head['error'] : undefined;
      if (error === undefined) return { head, body: bytes };
      throw isErrorBody(error) ? toSandboxError(error) : new SandboxError('the sandbox sent a malformed error');
    },
    close: () => void opening?.then((socket) => socket.destroy()).catch(() => undefined),
  };
}

function connect(socketPath: string): Promise<{ socket: Duplex; first: Buffer }> {
  return new Promise((resolve, reject) => {
    const headers = { connection: 'upgrade', upgrade: LINK_PROTOCOL };
    const request = httpRequest({ socketPath, path: '/v1/link', headers, agent: false });
    request.once('upgrade', (_response, socket, first) => resolve({ socket, first }));
    request.once('response', () => {
      reject(new Error('the executor has no link'));
      request.destroy();
    });
    request.once('error', reject);
    request.end();
  });
}
