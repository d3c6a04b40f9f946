import { closeSync, constants, fstatSync, openSync, writeSync } from 'node:fs';
import { open } from 'node:fs/promises';
import type { WriteResult } from '../../../src/sandbox/protocol/executor.ts';
import { fileError } from '../executor-error.ts';
import { openDigest, readDigest } from './digest.ts';
import type { Digest } from './digest.ts';
import { openWrite } from './open-write.ts';
import type { OpenWrite, WriteOptions, WriteParts } from './open-write.ts';

const FLAGS = constants.O_WRONLY | constants.O_NOFOLLOW;

/** Streams the source into the file. Throws the errors of `openWrite`, and ETOOBIG as soon as the limit is exceeded. */
export function writeFile(
  parts: WriteParts,
  path: string,
  source: AsyncIterable<Uint8Array>,
  options: WriteOptions,
): Promise<WriteResult> {
  return fill(parts, path, options, async (write) => {
    const file = await open(write.at, FLAGS);
    const digest = openDigest();
    try {
      let size = 0;
      for await (const chunk of source) {
        size += chunk.length;
        write.take(chunk.length, size);
        digest.push(chunk);
        await file.writeFile(chunk);
      }
      return digest.end();
    } finally {
      await file.close();
    }
  });
}

/** Small content in memory is written synchronously, which is cheaper than four trips to the thread pool. */
export function writeWhole(
  parts: WriteParts,
  path: string,
  bytes: Uint8Array,
  options: WriteOptions,
): Promise<WriteResult> {
  return fill(parts, path, options, (write) => {
    write.take(bytes.length, bytes.length);
    const fd = openSync(write.at, FLAGS);
    try {
      for (let at = 0; at < bytes.length; at += writeSync(fd, bytes, at));
    } finally {
      closeSync(fd);
    }
    const digest = openDigest();
    digest.push(bytes);
    return digest.end();
  });
}

/** Publishes a file that the caller has written. */
export async function commitWrite(write: OpenWrite): Promise<WriteResult> {
  try {
    const fd = openSync(write.at, constants.O_RDONLY | constants.O_NOFOLLOW);
    let digest;
    try {
      const { size } = fstatSync(fd);
      write.take(size, size);
      digest = await readDigest(fd);
    } finally {
      closeSync(fd);
    }
    if (digest === undefined) throw fileError('ETOOBIG', write.relative);
    return await write.finish(digest);
  } catch (error) {
    write.cancel();
    throw error;
  }
}

async function fill(
  parts: WriteParts,
  path: string,
  options: WriteOptions,
  act: (write: OpenWrite) => Digest | Promise<Digest>,
): Promise<WriteResult> {
  const write = await openWrite(parts, path, options);
  try {
    return await write.finish(await act(write));
  } catch (error) {
    write.cancel();
    throw error;
  }
}
