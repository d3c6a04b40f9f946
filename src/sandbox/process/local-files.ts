import { close, closeSync, constants, fstatSync, read, writev } from 'node:fs';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import type { FileEntry, FileStat, WriteResult } from '../protocol/executor.ts';
import { MAX_LINK_BODY } from '../protocol/link.ts';
import type { LinkRequest, LinkWrite } from '../protocol/link.ts';
import type { ExecutorLink } from '../executor/link.ts';
import { openBeneath } from './open-beneath.ts';
import { SandboxError } from '../sandbox.ts';
import type { VolumeFiles } from '../sandbox.ts';

const PIECE = 512 * 1024;
const writeParts = promisify(writev);

type Parts = {
  link: ExecutorLink;
  /** the volume's folder on this machine, and what the executor calls it */
  folder: string;
  workspace: string;
  onUsage: (usedBytes: number) => void;
  onBody: (body: Readable) => void;
  /** the way through the executor, for what the quick way does not take */
  slow: VolumeFiles;
};

/**
 * Reads and writes where the volume lies on this machine. The executor resolves every path, keeps count and puts files
 * in place; the bytes of large files pass between this process and the disk, through descriptors that lead nowhere but
 * into the volume.
 */
export function buildLocalFiles(parts: Parts): Pick<VolumeFiles, 'open' | 'openDescribed' | 'write'> {
  const { link, folder, workspace, slow } = parts;

  /** Undefined where the file has changed its place or content since the executor looked. */
  const read = async <S extends FileStat>(
    path: string,
    part: Omit<Extract<LinkRequest, { op: 'read' }>, 'op' | 'path'>,
  ): Promise<{ stat: S; length: number; body: Readable | Uint8Array } | undefined> => {
    const { head, body } = await link.send({ op: 'read', path: `${workspace}/${path}`, ...part });
    const { stat, whole } = (head as { read: { stat: S; whole: boolean } }).read;
    if (whole) return { stat, length: body.length, body };
    const opened = openPart(folder, stat, part);
    if (opened === undefined) return undefined;
    parts.onBody(opened.body);
    return { stat, ...opened };
  };

  const written = (head: unknown): FileEntry => {
    const { written } = head as { written: WriteResult & { entry: FileEntry } };
    parts.onUsage(written.usedBytes);
    return written.entry;
  };

  const writeLarge = async (target: LinkWrite, source: AsyncIterable<Uint8Array>): Promise<FileEntry> => {
    const { head } = await link.send({ op: 'begin', ...target });
    const { write, path } = (head as { begun: { write: number; path: string } }).begun;
    try {
      await fill(openTarget(folder, path), source, target.sizeBytes);
    } catch (error) {
      await link.send({ op: 'cancel', write }).catch(() => undefined);
      throw error;
    }
    return written((await link.send({ op: 'commit', write })).head);
  };

  return {
    async open(path, options) {
      const { maxFileBytes, offset = 0, length = null } = options;
      return (await read(path, { maxFileBytes, offset, length, describe: false })) ?? slow.open(path, options);
    },
    async openDescribed(path, { maxFileBytes }) {
      const part = { maxFileBytes, offset: 0, length: null, describe: true };
      const found = await read<FileEntry>(path, part);
      return found === undefined ? slow.openDescribed(path, { maxFileBytes }) : { entry: found.stat, body: found.body };
    },
    async write(path, source, { sizeBytes = 0, protect, ...options }) {
      // of an unknown length: counted, and refused, by the executor as it comes
      if (sizeBytes === 0) return slow.write(path, source, { protect, ...options });
      const target = { ...options, sizeBytes, protect: [...protect], path: `${workspace}/${path}` };
      if (sizeBytes > MAX_LINK_BODY) return writeLarge(target, source);
      const content = await gather(source, sizeBytes);
      return written((await link.send({ op: 'write', ...target }, content)).head);
    },
  };
}

function openPart(
  folder: string,
  stat: FileStat,
  { offset, length, describe }: { offset: number; length: number | null; describe: boolean },
): { length: number; body: Readable } | undefined {
  let fd: number;
  try {
    fd = openBeneath(folder, stat.path, constants.O_RDONLY);
  } catch {
    return undefined;
  }
  const now = fstatSync(fd);
  const changed = now.size !== stat.sizeBytes || now.mtimeMs !== stat.modifiedMs;
  const end = Math.min(now.size, length === null ? now.size : offset + length);
  // what was described has to be what is sent, and a range has been decided upon
  if (changed && (describe || length !== null)) {
    closeSync(fd);
    return undefined;
  }
  return { length: Math.max(0, end - offset), body: readRange(fd, offset, end) };
}

/** Fails where the file has become shorter: an answer that has promised its length must not end in silence. */
function readRange(fd: number, offset: number, end: number): Readable {
  let at = offset;
  return new Readable({
    highWaterMark: PIECE,
    read() {
      const wanted = Math.min(PIECE, end - at);
      if (wanted <= 0) {
        this.push(null);
        return;
      }
      read(fd, Buffer.allocUnsafeSlow(wanted), 0, wanted, at, (error, size, piece) => {
        if (error !== null || size === 0) {
          this.destroy(new SandboxError('the file has become shorter', { cause: error }));
          return;
        }
        at += size;
        this.push(size === wanted ? piece : piece.subarray(0, size));
      });
    },
    destroy(error, done) {
      close(fd, () => done(error));
    },
  });
}

function openTarget(folder: string, path: string): number {
  try {
    return openBeneath(folder, path, constants.O_WRONLY);
  } catch (error) {
    throw new SandboxError('the volume changed under the write', { cause: error });
  }
}

/** Closes the descriptor. Several pieces go out in one call, while the next come in. */
async function fill(fd: number, source: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<void> {
  let pieces: Uint8Array[] = [];
  let held = 0;
  let size = 0;
  let writing = Promise.resolve();
  const flush = async (): Promise<void> => {
    await writing;
    writing = writeAll(fd, pieces);
    // told by the next flush
    writing.catch(() => undefined);
    pieces = [];
    held = 0;
  };
  try {
    for await (const chunk of source) {
      size += chunk.length;
      if (size > sizeBytes) throw new Error('more came than was announced');
      pieces.push(chunk);
      held += chunk.length;
      if (held >= PIECE) await flush();
    }
    await flush();
    await writing;
    if (size !== sizeBytes) throw new Error('less came than was announced');
  } finally {
    await writing.catch(() => undefined);
    closeSync(fd);
  }
}

async function writeAll(fd: number, pieces: Uint8Array[]): Promise<void> {
  let left = pieces;
  while (left.length > 0) {
    let { bytesWritten } = await writeParts(fd, left);
    while (left[0] !== undefined && bytesWritten >= left[0].length) {
      bytesWritten -= left[0].length;
      left = left.slice(1);
    }
    if (left[0] !== undefined && bytesWritten > 0) left = [left[0].subarray(bytesWritten), ...left.slice(1)];
  }
}

async function gather(source: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of source) {
    size += piece.length;
    if (size > sizeBytes) throw new Error('more came than was announced');
    pieces.push(piece);
  }
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
}
