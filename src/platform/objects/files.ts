import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import type { Dirent, Stats } from 'node:fs';
import { mkdir, open, readFile, readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { errors } from '../errors.ts';
import { readStorage } from '../storage-floor.ts';
import type { StorageFloor } from '../storage-floor.ts';
import { requireKey } from './key.ts';
import type { ObjectInfo, Objects } from './objects.ts';
import { readSignedPath, signPath } from './signed.ts';

/** Put behind names of folders and of files that are no objects; no key has it, so nothing can collide. */
const MARK = '@';
const FOLDER = MARK;
const TYPE = `${MARK}type`;
const DRAFTS = `${MARK}drafts`;

function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

async function ifPresent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** The order of whole keys, for a folder's entries: what is below `a` sorts as `a/`. */
function sortName(entry: Dirent): string {
  return entry.isDirectory() ? `${entry.name.slice(0, -FOLDER.length)}/` : entry.name;
}

async function describe(key: string, path: string, stats: Stats): Promise<ObjectInfo> {
  const contentType = (await ifPresent(readFile(path + TYPE, 'utf8'))) ?? 'application/octet-stream';
  return { key, sizeBytes: stats.size, contentType, updatedAt: stats.mtime };
}

/** A folder may vanish between its making and its use, when the last object in it is deleted meanwhile. */
async function moveIntoPlace(draft: string, path: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await mkdir(dirname(path), { recursive: true });
      return await rename(draft, path);
    } catch (error) {
      if (!isMissing(error) || attempt === 10) throw error;
    }
  }
}

/** The objects below `folder` whose keys begin with `prefix`, in the order of keys. */
async function* walk(folder: string, parent: string, prefix: string): AsyncGenerator<ObjectInfo> {
  const entries = (await ifPresent(readdir(folder, { withFileTypes: true }))) ?? [];
  const own = entries.filter((entry) =>
    entry.isDirectory() ? entry.name.endsWith(FOLDER) : !entry.name.includes(MARK),
  );
  const named = own.map((entry) => ({ entry, name: sortName(entry), key: parent + sortName(entry) }));
  // Keys are ASCII, so comparing code units is comparing bytes.
  for (const { entry, key } of named.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!key.startsWith(prefix) && !prefix.startsWith(key)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path, key, prefix);
    else if (key.startsWith(prefix)) {
      const stats = await ifPresent(stat(path));
      if (stats) yield await describe(key, path, stats);
    }
  }
}

/**
 * Objects as files below `dir`: `a/b/c.png` is `a@/b@/c.png`, its content type in `c.png@type`. A body is written aside,
 * synced and renamed. Belongs to one process. Signed paths last as long as `signingKey`, by default as the process.
 */
export async function openFiles(options: {
  dir: string;
  signingKey?: Uint8Array;
  /** free space below which `put` throws the `ApiError` `storage_full` */
  floor?: StorageFloor;
}): Promise<Objects> {
  const { dir, signingKey = randomBytes(32) } = options;
  const drafts = join(dir, DRAFTS);
  await rm(drafts, { recursive: true, force: true });
  await mkdir(drafts, { recursive: true });

  function pathOf(key: string): string {
    requireKey(key);
    const segments = key.split('/');
    const name = segments.pop() ?? '';
    return join(dir, ...segments.map((segment) => segment + FOLDER), name);
  }

  async function head(key: string): Promise<ObjectInfo | undefined> {
    const path = pathOf(key);
    const stats = await ifPresent(stat(path));
    return stats && describe(key, path, stats);
  }

  return {
    put: async (key, body, { contentType }) => {
      const path = pathOf(key);
      if (options.floor !== undefined && readStorage(dir, options.floor).isFull) throw errors.storageFull();
      const draft = join(drafts, randomBytes(12).toString('hex'));
      try {
        const source = body instanceof Readable ? body : Readable.from([body]);
        await pipeline(source, createWriteStream(draft, { flush: true }));
        const stats = await stat(draft);
        await writeFile(`${draft}${TYPE}`, contentType);
        await moveIntoPlace(`${draft}${TYPE}`, path + TYPE);
        await moveIntoPlace(draft, path);
        return { key, sizeBytes: stats.size, contentType, updatedAt: stats.mtime };
      } finally {
        await rm(draft, { force: true });
        await rm(`${draft}${TYPE}`, { force: true });
      }
    },
    get: async (key, range) => {
      const path = pathOf(key);
      // Opened first: size and bytes are then of one object, whatever is put meanwhile.
      const file = await ifPresent(open(path));
      if (!file) return undefined;
      const info = await describe(key, path, await file.stat());
      const start = Math.min(range?.start ?? 0, info.sizeBytes);
      const end = Math.min((range?.end ?? Infinity) + 1, info.sizeBytes);
      const contentLength = Math.max(0, end - start);
      if (contentLength === 0) {
        await file.close();
        return { info, body: Readable.from([]), contentLength };
      }
      return { info, body: createReadStream('', { fd: file, start, end: end - 1 }), contentLength };
    },
    head,
    delete: async (key) => {
      const path = pathOf(key);
      await rm(path, { force: true }).catch((error: unknown) => {
        if (!isMissing(error)) throw error;
      });
      await ifPresent(rm(path + TYPE));
      try {
        for (let folder = dirname(path); folder !== dir; folder = dirname(folder)) await rmdir(folder);
      } catch {
        // not empty, or gone already
      }
    },
    list: (prefix) => walk(dir, '', prefix),
    sign: async (request) => {
      requireKey(request.key);
      return signPath(signingKey, request, Date.now());
    },
    readSigned: (method, path) => readSignedPath(signingKey, method, path, Date.now()),
    ping: async () => {
      await stat(drafts);
    },
    close: () => Promise.resolve(),
  };
}
