// Tests: test/sandbox/port.test.ts, test/sandbox/process/open-beneath.test.ts
import { closeSync, constants, fstatSync, mkdirSync, openSync, readlinkSync } from 'node:fs';
import { fileError } from '../executor-error.ts';

/** Linux's O_PATH (the same on x64 and arm64), which `fs.constants` leaves out. */
const O_PATH = 0x200000;
const MAX_LINKS = 40;

/** A place below the root, held by descriptors: `at` stays the same place whatever is renamed around it. */
export type Located = {
  /** path of the entry through its parent's descriptor; valid until `close` */
  at: string;
  /** O_PATH descriptor of the entry; undefined when nothing is there */
  fd: number | undefined;
  /** relative to the root, links resolved; `.` for the root */
  relative: string;
  dirsCreated: string[];
  close(): void;
};

function toSegments(root: string, path: string): string[] {
  if (path.includes('\0')) throw fileError('EINVAL', 'path');
  let rest = path;
  if (rest === '~' || rest.startsWith('~/')) rest = rest.slice(1);
  else if (rest.startsWith('/')) {
    const base = [root, '/workspace'].find((prefix) => rest === prefix || rest.startsWith(`${prefix}/`));
    if (base === undefined) throw fileError('ESCAPE', path);
    rest = rest.slice(base.length);
  }
  return rest.split('/').filter((segment) => segment !== '' && segment !== '.');
}

/**
 * Walks `path` one component at a time through descriptors, so a link swapped in meanwhile is seen, never followed
 * blindly: what `openat2` with RESOLVE_BENEATH does, which Node cannot call. Links inside the root are followed.
 * Throws ESCAPE, ENOENT (a missing parent), ENOTDIR, ELOOP, ERESERVED (what `protect` names, or below).
 */
export function locate(
  root: string,
  path: string,
  options: { createParents?: boolean; followLast?: boolean; protect?: readonly string[] | undefined } = {},
): Located {
  const queue = toSegments(root, path);
  const stack = [{ fd: openSync(root, O_PATH | constants.O_DIRECTORY), name: '' }];
  const dirsCreated: string[] = [];
  let links = 0;
  let last: { fd: number | undefined; name: string } | undefined;
  const close = (): void => {
    for (const entry of stack) closeSync(entry.fd);
    if (last?.fd !== undefined) closeSync(last.fd);
  };
  const names = (): string[] => stack.slice(1).map((entry) => entry.name);
  const guard = (first: string | undefined): void => {
    if (first !== undefined && options.protect?.includes(first) === true) throw fileError('ERESERVED', path);
  };
  try {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      if (name === '..') {
        const left = stack.length > 1 ? stack.pop() : undefined;
        if (left === undefined) throw fileError('ESCAPE', path);
        closeSync(left.fd);
        continue;
      }
      const at = `/proc/self/fd/${stack.at(-1)!.fd}/${name}`;
      let fd = openEntry(at);
      if (fd === undefined && queue.length === 0) {
        last = { fd: undefined, name };
        break;
      }
      if (fd === undefined && options.createParents === true) {
        guard(stack[1]?.name ?? name);
        makeQuietly(at);
        dirsCreated.push([...names(), name].join('/'));
        fd = openEntry(at);
      }
      if (fd === undefined) throw fileError('ENOENT', path);
      const stat = fstatSync(fd);
      if (stat.isDirectory()) {
        stack.push({ fd, name });
      } else if (stat.isSymbolicLink() && (queue.length > 0 || options.followLast !== false)) {
        closeSync(fd);
        if (++links > MAX_LINKS) throw fileError('ELOOP', path);
        const target = readlinkSync(at);
        if (target.startsWith('/')) for (const entry of stack.splice(1)) closeSync(entry.fd);
        queue.unshift(...(target.startsWith('/') ? toSegments(root, target) : splitRelative(target)));
      } else if (queue.length === 0) {
        last = { fd, name };
      } else {
        closeSync(fd);
        throw fileError('ENOTDIR', path);
      }
    }
  } catch (error) {
    close();
    throw error;
  }
  const top = stack.at(-1)!;
  try {
    guard(stack[1]?.name ?? last?.name);
  } catch (error) {
    close();
    throw error;
  }
  if (last !== undefined) {
    const relative = [...names(), last.name].join('/');
    return { at: `/proc/self/fd/${top.fd}/${last.name}`, fd: last.fd, relative, dirsCreated, close };
  }
  const parent = stack.at(-2);
  return {
    at: parent === undefined ? `/proc/self/fd/${top.fd}` : `/proc/self/fd/${parent.fd}/${top.name}`,
    fd: top.fd,
    relative: names().join('/') || '.',
    dirsCreated,
    close,
  };
}

/** Locates an entry, runs `act` and closes the descriptors. */
export function withLocated<T>(root: string, path: string, act: (located: Located) => T, follow = true): T {
  const located = locate(root, path, { followLast: follow });
  try {
    return act(located);
  } finally {
    located.close();
  }
}

/** Tolerates that another executor of the volume creates it concurrently. */
function makeQuietly(at: string): void {
  try {
    mkdirSync(at);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function splitRelative(target: string): string[] {
  return target.split('/').filter((segment) => segment !== '' && segment !== '.');
}

function openEntry(at: string): number | undefined {
  try {
    return openSync(at, O_PATH | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
