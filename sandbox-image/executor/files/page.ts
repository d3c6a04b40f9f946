import { fstatSync } from 'node:fs';
import type { FileEntry, FilePage, FilePageRequest, FilePlace } from '../../../src/sandbox/protocol/executor.ts';
import { fileError } from '../executor-error.ts';
import type { Digests } from './digest.ts';
import { describeListed } from './entry.ts';
import { locate } from './resolve.ts';
import { statFile } from './stat.ts';
import { isTemporary } from './temporary.ts';
import { walkTree } from './walk.ts';

/** Files described concurrently. */
const AT_ONCE = 4;
const MAX_ENTRIES = 1_000_000;

/** Folders first, then by path. */
function compare(left: FilePlace, right: FilePlace): number {
  if (left.folder !== right.folder) return left.folder ? -1 : 1;
  return left.path === right.path ? 0 : left.path < right.path ? -1 : 1;
}

/** Throws ENOENT, ENOTDIR, ESCAPE, ETOOBIG (more than a million entries). */
export async function listPage(
  root: string,
  request: FilePageRequest & { path: string },
  digests: Digests,
): Promise<FilePage> {
  const items = await listItems(root, request.path, request.recursive);
  items.sort(compare);
  const { after, limit } = request;
  const found = after === undefined ? request.offset : items.findIndex((item) => compare(item, after) > 0);
  const start = found === -1 ? items.length : found;
  const page = items.slice(start, start + limit);
  const last = start + limit < items.length ? page.at(-1) : undefined;
  const entries = await mapSome(page, (item) => describeListed(root, `${root}/${item.path}`, digests));
  return { entries: entries.filter((entry) => entry !== null), total: items.length, last: last ?? null };
}

/** Every entry below a folder, unsorted; a link counts as its target. */
export async function listItems(root: string, path: string, recursive: boolean): Promise<FilePlace[]> {
  const located = locate(root, path);
  try {
    if (located.fd === undefined) throw fileError('ENOENT', path);
    if (!fstatSync(located.fd).isDirectory()) throw fileError('ENOTDIR', path);
    const prefix = located.relative === '.' ? '' : `${located.relative}/`;
    const items: FilePlace[] = [];
    await walkTree(
      located.fd,
      (below, entry) => {
        if (isTemporary(entry.name)) return false;
        if (items.length === MAX_ENTRIES) throw fileError('ETOOBIG', path);
        const own = `${prefix}${below}`;
        items.push({ path: own, folder: entry.isDirectory() || (entry.isSymbolicLink() && leadsToFolder(root, own)) });
        return true;
      },
      recursive,
    );
    return items;
  } finally {
    located.close();
  }
}

function leadsToFolder(root: string, path: string): boolean {
  try {
    return statFile(root, `${root}/${path}`)?.type === 'directory';
  } catch {
    return false;
  }
}

async function mapSome(
  items: readonly FilePlace[],
  act: (item: FilePlace) => Promise<FileEntry | null>,
): Promise<(FileEntry | null)[]> {
  const results: (FileEntry | null)[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) results[index] = await act(items[index]!);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}
