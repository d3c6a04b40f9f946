import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs';
import { copyFile as copyBytes } from 'node:fs/promises';
import { fileError } from '../executor-error.ts';
import type { QuotaLedger } from './quota.ts';
import { publishFile, publishFolder } from './publish.ts';
import { removeTree } from './remove.ts';
import { locate } from './resolve.ts';
import type { Located } from './resolve.ts';
import { isTemporary, temporaryBeside } from './temporary.ts';
import { walkTree } from './walk.ts';

export type TransferOptions = { overwrite: boolean; protect?: readonly string[] | undefined };
export type CopyOptions = TransferOptions & {
  /** maximum size of each file; beyond it ETOOBIG, and nothing is copied */
  maxFileBytes: number;
  quota: QuotaLedger;
};

type Ends = { source: Located & { fd: number }; target: Located; folder: boolean };

/**
 * Moves an entry and creates missing parents of `to`. Moves a link itself, not its target. Throws ENOENT, EEXIST
 * (without `overwrite`, and always for a folder over a file or a file over a folder), EINVAL (into itself).
 */
export function moveFile(root: string, from: string, to: string, options: TransferOptions): Promise<void> {
  return transfer({ root, from, to }, { ...options, source: { followLast: false, protect: options.protect } }, (ends) =>
    ends.folder
      ? publishFolder(ends.source.at, ends.target.at, options.overwrite)
      : publishFile(ends.source.at, ends.target.at, options.overwrite),
  );
}

/** Like `moveFile`, but keeps the source. Links inside a folder are copied as links; pipes and devices are omitted. */
export function copyFile(root: string, from: string, to: string, options: CopyOptions): Promise<void> {
  return transfer({ root, from, to }, { ...options, source: {} }, async ({ source, target, folder }) => {
    const reservation = await options.quota.reserve(to);
    const made = temporaryBeside(target.at);
    try {
      const bytes = await measure(source, from, folder, options.maxFileBytes);
      reservation.take(bytes);
      if (folder) await copyTree(source.fd, made);
      else await copyBytes(`/proc/self/fd/${source.fd}`, made, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
      if (folder) await publishFolder(made, target.at, options.overwrite);
      else publishFile(made, target.at, options.overwrite);
      reservation.settle(bytes);
    } catch (error) {
      reservation.cancel();
      await removeTree(made).catch(() => undefined);
      throw error;
    }
  });
}

async function transfer(
  { root, from, to }: { root: string; from: string; to: string },
  options: TransferOptions & { source: { followLast?: boolean; protect?: readonly string[] | undefined } },
  act: (ends: Ends) => void | Promise<void>,
): Promise<void> {
  const source = locate(root, from, options.source);
  try {
    const { fd, relative } = source;
    if (fd === undefined) throw fileError('ENOENT', from);
    if (relative === '.') throw fileError('EINVAL', from);
    const target = locate(root, to, { createParents: true, followLast: false, protect: options.protect });
    try {
      const stats = fstatSync(fd);
      const old = target.fd === undefined ? undefined : fstatSync(target.fd);
      if (target.relative === '.') throw fileError('EINVAL', to);
      if (old !== undefined && !options.overwrite) throw fileError('EEXIST', to);
      if (target.relative === relative) return;
      if (`${target.relative}/`.startsWith(`${relative}/`)) throw fileError('EINVAL', to);
      if (`${relative}/`.startsWith(`${target.relative}/`)) throw fileError('EEXIST', to);
      if (old !== undefined && old.isDirectory() !== stats.isDirectory()) throw fileError('EEXIST', to);
      await act({ source: { ...source, fd }, target, folder: stats.isDirectory() });
    } finally {
      target.close();
    }
  } finally {
    source.close();
  }
}

async function measure(
  source: Located & { fd: number },
  from: string,
  folder: boolean,
  maxFileBytes: number,
): Promise<number> {
  let bytes = 0;
  const add = (size: number, isFile: boolean): void => {
    if (isFile && size > maxFileBytes) throw fileError('ETOOBIG', from);
    bytes += size;
  };
  const own = fstatSync(source.fd);
  if (!folder) {
    if (!own.isFile()) throw fileError('EINVAL', from);
    add(own.size, true);
    return bytes;
  }
  await walkTree(source.fd, (_path, entry, at) => {
    const stats = lstatSync(at, { throwIfNoEntry: false });
    if (stats !== undefined && !isTemporary(entry.name)) add(stats.size, stats.isFile());
    return !isTemporary(entry.name);
  });
  return bytes;
}

async function copyTree(fd: number, to: string): Promise<void> {
  mkdirSync(to);
  await walkTree(fd, (path, entry, at) => {
    if (isTemporary(entry.name)) return false;
    if (entry.isDirectory()) mkdirSync(`${to}/${path}`);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(at), `${to}/${path}`);
    else if (entry.isFile()) copyPlain(at, `${to}/${path}`);
    return true;
  });
}

function copyPlain(at: string, to: string): void {
  const fd = openSync(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (fstatSync(fd).isFile()) copyFileSync(`/proc/self/fd/${fd}`, to, constants.COPYFILE_FICLONE);
  } finally {
    closeSync(fd);
  }
}
