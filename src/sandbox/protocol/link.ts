/**
 * The quick way to a volume's files where both sides are on one machine: frames on one connection, which begins as
 * `GET /v1/link` with `Upgrade: capstan-files` on the executor's Unix socket. Any number of requests are under way at
 * once; `id` tells which answer belongs to which. A request's head is a `LinkRequest`, an answer's a `LinkAnswer`.
 *
 * Frame: its length without these 4 bytes, `id`, the length of the head (4 bytes each, big endian), the head as JSON,
 * the body.
 */
import type { Duplex } from 'node:stream';
import type { ExecutorErrorBody, FileEntry, FileStat, WriteResult } from './executor.ts';

export const LINK_PROTOCOL = 'capstan-files';

/** What travels inside a frame; larger content is read and written beside the link. */
export const MAX_LINK_BODY = 64 * 1024;
const MAX_FRAME = 1024 * 1024;

export type LinkWrite = {
  path: string;
  maxBytes: number;
  overwrite: boolean;
  createParents: boolean;
  protect: string[];
  /** of the whole content */
  sizeBytes: number;
};

export type LinkRequest =
  /** The bytes come as the answer's body, or, where they are more than fit, not at all. */
  | { op: 'read'; path: string; offset: number; length: number | null; maxFileBytes: number; describe: boolean }
  /** With the content as its body. */
  | ({ op: 'write' } & LinkWrite)
  /** Makes a file that the caller fills and then commits. It is dropped with the link. */
  | ({ op: 'begin' } & LinkWrite)
  | { op: 'commit' | 'cancel'; write: number };

export type LinkAnswer =
  /** `whole`: the body is what was asked for. `stat.path` has no links in it. */
  | { read: { stat: FileStat | FileEntry; whole: boolean } }
  | { written: WriteResult }
  /** `path` of the file to fill, relative to the workspace, without links. */
  | { begun: { write: number; path: string } }
  | { cancelled: boolean }
  | { error: ExecutorErrorBody };

export type LinkFrame = { id: number; head: unknown; body: Uint8Array };

export function encodeLinkFrame(id: number, head: LinkRequest | LinkAnswer, body?: Uint8Array): Uint8Array {
  const text = JSON.stringify(head);
  const headLength = Buffer.byteLength(text);
  const frame = Buffer.allocUnsafe(12 + headLength + (body?.length ?? 0));
  frame.writeUInt32BE(frame.length - 4, 0);
  frame.writeUInt32BE(id, 4);
  frame.writeUInt32BE(headLength, 8);
  frame.write(text, 12);
  if (body !== undefined) frame.set(body, 12 + headLength);
  return frame;
}

/** What is written in one go of the event loop leaves in one call. */
export function writeSoon(socket: Duplex, frame: Uint8Array): void {
  if (socket.writableCorked === 0) {
    socket.cork();
    setImmediate(() => socket.uncork());
  }
  socket.write(frame);
}

/** Takes bytes as they come and gives the frames that are complete. Throws for what is no frame. */
export function openLinkReader(): (chunk: Buffer) => LinkFrame[] {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const frames: LinkFrame[] = [];
    while (bytes.length >= 4) {
      const end = 4 + bytes.readUInt32BE(0);
      if (end < 12 || end > MAX_FRAME) throw new Error('not a frame');
      if (bytes.length < end) break;
      const bodyAt = 12 + bytes.readUInt32BE(8);
      if (bodyAt > end) throw new Error('not a frame');
      const head: unknown = JSON.parse(bytes.toString('utf8', 12, bodyAt));
      frames.push({ id: bytes.readUInt32BE(4), head, body: bytes.subarray(bodyAt, end) });
      bytes = bytes.subarray(end);
    }
    rest = bytes;
    return frames;
  };
}
