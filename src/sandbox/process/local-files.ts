import { close, closeSync, constants, fstatSync, read as readAt, writev } from 'node:fs';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import type { FileEntry, FileStat } from '../protocol/executor.ts';
import { MAX_LINK_BODY } from '../protocol/link.ts';
import type { LinkRequest, LinkWrite } from '../protocol/link.ts';
import { readLinkBegun, readLinkDescribedRead, readLinkRead, readLinkWritten } from '../executor/answers.ts';
import type { ExecutorLink } from '../executor/link.ts';
import { openBeneath } from './open-beneath.ts';
import { SandboxError } from '../sandbox.ts';
import type { VolumeFiles } from '../sandbox.ts';

const CHUNK_BYTES = 512 * 1024;
const writeChunks = promisify(writev);

type LocalFilesOptions = {
  link: ExecutorLink;
  /** the volume's folder on this machine */
  folder: string;
  /** the same folder as the executor names it */
  workspace: string;
  onUsage: (usedBytes: number) => void;
  onBody: (body: Readable) => void;
  /** the files through the executor, for what cannot be read or written directly */
  slow: VolumeFiles;
};

/**
 * Reads and writes for a volume on this machine. The executor resolves every path, keeps the quota and publishes files.
 * The bytes of large files pass between this process and the disk, through descriptors opened strictly below the
 * volume's folder.
 */
export function buildLocalFiles(options: LocalFilesOptions): Pick<VolumeFiles, 'open' | 'openDescribed' | 'write'> {
  const { link, folder, workspace, slow, onUsage, onBody } = options;

  /** Undefined when the file was moved or changed since the executor answered. */
  const read = async <S extends FileStat>(
    path: string,
    range: ReadRange,
    readStat: (head: unknown) => { stat: S; whole: boolean },
  ): Promise<{ stat: S; length: number; body: Readable | Uint8Array } | undefined> => {
    const { head, body } = await link.send({ op: 'read', path: `${workspace}/${path}`, ...range });
    const { stat, whole } = readStat(head);
    if (whole) return { stat, length: body.length, body };
    const opened = openRange(folder, stat, range);
    if (opened === undefined) return undefined;
    onBody(opened.body);
    return { stat, ...opened };
  };

  const reportWritten = (head: unknown): FileEntry => {
    const { entry, usedBytes } = readLinkWritten(head);
    onUsage(usedBytes);
    return entry;
  };

  const writeLarge = async (target: LinkWrite, source: AsyncIterable<Uint8Array>): Promise<FileEntry> => {
    const { head } = await link.send({ op: 'begin', ...target });
    const { write, path } = readLinkBegun(head);
    try {
      await fill(openTarget(folder, path), source, target.sizeBytes);
    } catch (error) {
      await link.send({ op: 'cancel', write }).catch(() => undefined);
      throw error;
    }
    return reportWritten((await link.send({ op: 'commit', write })).head);
  };

  return {
    async open(path, request) {
      const { maxFileBytes, offset = 0, length = null } = request;
      const range = { maxFileBytes, offset, length, describe: false };
      return (await read(path, range, readLinkRead)) ?? slow.open(path, request);
    },
    async openDescribed(path, { maxFileBytes }) {
      const range = { maxFileBytes, offset: 0, length: null, describe: true };
      const found = await read(path, range, readLinkDescribedRead);
      return found === undefined ? slow.openDescribed(path, { maxFileBytes }) : { entry: found.stat, body: found.body };
    },
    async write(path, source, { sizeBytes = 0, protect, ...rules }) {
      // Content of unknown length goes through the executor, which enforces the quota as it arrives.
      if (sizeBytes === 0) return slow.write(path, source, { protect, ...rules });
      const target = { ...rules, sizeBytes, protect: [...protect], path: `${workspace}/${path}` };
      if (sizeBytes > MAX_LINK_BODY) return writeLarge(target, source);
      const content = await collect(source, sizeBytes);
      return reportWritten((await link.send({ op: 'write', ...target }, content)).head);
    },
  };
}

type ReadRange = Omit<Extract<LinkRequest, { op: 'read' }>, 'op' | 'path'>;

function openRange(
  folder: string,
  stat: FileStat,
  { offset, length, describe }: ReadRange,
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
  // A described or ranged read must return the very content that the executor saw.
  if (changed && (describe || length !== null)) {
    closeSync(fd);
    return undefined;
  }
  return { length: Math.max(0, end - offset), body: readRange(fd, offset, end) };
}

/** Fails when the file gets shorter: the response has announced its length and must not end early without an error. */
function readRange(fd: number, offset: number, end: number): Readable {
  let position = offset;
  return new Readable({
    highWaterMark: CHUNK_BYTES,
    read() {
      const wanted = Math.min(CHUNK_BYTES, end - position);
      if (wanted <= 0) {
        this.push(null);
        return;
      }
      readAt(fd, Buffer.allocUnsafeSlow(wanted), 0, wanted, position, (error, size, chunk) => {
        if (error !== null || size === 0) {
          this.destroy(new SandboxError('the file has become shorter', { cause: error }));
          return;
        }
        position += size;
        this.push(size === wanted ? chunk : chunk.subarray(0, size));
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
    throw new SandboxError('the volume changed during the write', { cause: error });
  }
}

/** Writes the source and closes the descriptor. Collects the next chunks while the previous ones are written. */
async function fill(fd: number, source: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<void> {
  let chunks: Uint8Array[] = [];
  let pending = 0;
  let size = 0;
  let writing = Promise.resolve();
  const flush = async (): Promise<void> => {
    await writing;
    writing = writeAll(fd, chunks);
    // the next flush rethrows it
    writing.catch(() => undefined);
    chunks = [];
    pending = 0;
  };
  try {
    for await (const chunk of source) {
      size += chunk.length;
      if (size > sizeBytes) throw new Error('more came than was announced');
      chunks.push(chunk);
      pending += chunk.length;
      if (pending >= CHUNK_BYTES) await flush();
    }
    await flush();
    await writing;
    if (size !== sizeBytes) throw new Error('less came than was announced');
  } finally {
    await writing.catch(() => undefined);
    closeSync(fd);
  }
}

async function writeAll(fd: number, chunks: Uint8Array[]): Promise<void> {
  let left = chunks;
  while (left.length > 0) {
    let { bytesWritten } = await writeChunks(fd, left);
    while (left[0] !== undefined && bytesWritten >= left[0].length) {
      bytesWritten -= left[0].length;
      left = left.slice(1);
    }
    if (left[0] !== undefined && bytesWritten > 0) left = [left[0].subarray(bytesWritten), ...left.slice(1)];
  }
}

async function collect(source: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (size > sizeBytes) throw new Error('more came than was announced');
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}
