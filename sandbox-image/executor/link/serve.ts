// Tests: test/sandbox/port.test.ts, test/cluster/sandbox-suite.test.ts
import type { Duplex } from 'node:stream';
import {
  LINK_PROTOCOL,
  MAX_LINK_BODY,
  encodeLinkFrame,
  openLinkReader,
  writeSoon,
} from '../../../src/sandbox/protocol/link.ts';
import type { LinkAnswer, LinkFrame, LinkRequest, LinkWrite } from '../../../src/sandbox/protocol/link.ts';
import { ExecutorError, describeError } from '../executor-error.ts';
import { openWrite } from '../files/open-write.ts';
import type { OpenWrite, WriteParts } from '../files/open-write.ts';
import { readForLink } from '../files/read.ts';
import { commitWrite, writeWhole } from '../files/write.ts';

type Reply = { head: LinkAnswer; body?: Uint8Array };

/** Answers the frames of one connection. Unfinished writes are cancelled when it closes. */
export function serveLink(parts: WriteParts, socket: Duplex, first: Buffer): void {
  const writes = new Map<number, OpenWrite>();
  const read = openLinkReader();
  let next = 1;

  const find = (write: number): OpenWrite => {
    const found = writes.get(write);
    if (found === undefined) throw new ExecutorError('input', 'EINVAL', 'no such write');
    writes.delete(write);
    return found;
  };

  const act = async (request: LinkRequest, body: Uint8Array): Promise<Reply> => {
    switch (request.op) {
      case 'read': {
        const length = request.length ?? Infinity;
        const { stat, bytes } = await readForLink(parts.root, { ...request, length }, parts.digests, MAX_LINK_BODY);
        return {
          head: { read: { stat, whole: bytes !== undefined } },
          ...(bytes === undefined ? {} : { body: bytes }),
        };
      }
      case 'write':
        return { head: { written: await writeWhole(parts, request.path, body, buildOptions(request)) } };
      case 'begin': {
        const write = await openWrite(parts, request.path, buildOptions(request));
        if (socket.destroyed) {
          write.cancel();
          throw new ExecutorError('input', 'EINVAL', 'the request is no longer waiting');
        }
        const id = next++;
        writes.set(id, write);
        return { head: { begun: { write: id, path: write.relative } } };
      }
      case 'commit':
        return { head: { written: await commitWrite(find(request.write)) } };
      case 'cancel':
        find(request.write).cancel();
        return { head: { cancelled: true } };
    }
  };

  const answer = async ({ id, head, body }: LinkFrame): Promise<void> => {
    let reply: Reply;
    try {
      reply = await act(head as LinkRequest, body);
    } catch (error) {
      reply = { head: { error: describeError(error, (head as { path?: string }).path) } };
    }
    if (!socket.destroyed) writeSoon(socket, encodeLinkFrame(id, reply.head, reply.body));
  };

  const take = (chunk: Buffer): void => {
    try {
      for (const frame of read(chunk)) void answer(frame);
    } catch {
      socket.destroy();
    }
  };
  socket.on('error', () => undefined);
  socket.on('close', () => {
    for (const write of writes.values()) write.cancel();
    writes.clear();
  });
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${LINK_PROTOCOL}\r\n\r\n`);
  socket.on('data', take);
  if (first.length > 0) take(first);
}

function buildOptions({ maxBytes, overwrite, createParents, protect, sizeBytes }: LinkWrite) {
  return { maxBytes, overwrite, createParents, protect, sizeBytes, describe: true };
}
