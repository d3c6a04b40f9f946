/**
 * The faster path to a volume's files on the same machine: frames on one connection, opened by `GET /v1/link` with
 * `Upgrade: capstan-files` on the executor's Unix socket. Requests are multiplexed and matched to answers by `id`. The
 * head of a request is a `LinkRequest`, the head of an answer a `LinkAnswer`.
 *
 * A frame consists of its length without these 4 bytes, `id`, the length of the head (4 bytes each, big endian), the
 * head as JSON, and the body.
 */
import type { Duplex } from 'node:stream';
import type { ExecutorErrorBody, FileEntry, FileStat, WriteResult } from './executor.ts';

export const LINK_PROTOCOL = 'capstan-files';

/** The maximum content of a frame; larger content bypasses the link. */
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
  /** The content is the answer's body, unless it is larger than a frame. */
  | { op: 'read'; path: string; offset: number; length: number | null; maxFileBytes: number; describe: boolean }
  /** The content is the request's body. */
  | ({ op: 'write' } & LinkWrite)
  /** Creates a file that the caller writes and then commits. It is discarded when the link closes. */
  | ({ op: 'begin' } & LinkWrite)
  | { op: 'commit' | 'cancel'; write: number };

export type LinkAnswer =
  /** `whole`: the body contains the requested bytes. `stat.path` contains no links. */
  | { read: { stat: FileStat | FileEntry; whole: boolean } }
  | { written: WriteResult }
  /** `path` of the file to write, relative to the workspace, without links. */
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

/** Frames written in one tick of the event loop are sent by one system call. */
export function writeSoon(socket: Duplex, frame: Uint8Array): void {
  if (socket.writableCorked === 0) {
    socket.cork();
    setImmediate(() => socket.uncork());
  }
  socket.write(frame);
}

/** Parses a byte stream into complete frames. Throws for invalid data. */
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
