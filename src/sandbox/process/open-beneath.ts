import { closeSync, constants, fstatSync, openSync } from 'node:fs';

/** Linux's O_PATH, which `fs.constants` leaves out. */
const O_PATH = 0x200000;

/**
 * A descriptor of the regular file at `path` below the folder `root`. Every component is opened from the one before it
 * and none may be a link, so whatever programs do to the tree meanwhile, it is a file of that tree. Throws for anything
 * else. `root` itself is trusted.
 */
export function openBeneath(root: string, path: string, flags: number): number {
  const names = path.split('/');
  const last = names.pop() ?? '';
  if ([...names, last].some((name) => name === '' || name === '.' || name === '..' || name.includes('\0'))) {
    throw new Error('not a plain path');
  }
  let folder = openSync(root, O_PATH | constants.O_DIRECTORY);
  try {
    for (const name of names) {
      const inner = openSync(`/proc/self/fd/${folder}/${name}`, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      closeSync(folder);
      folder = inner;
    }
    // a pipe must not block, nor a lease that a program holds on the file
    const open = constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const fd = openSync(`/proc/self/fd/${folder}/${last}`, flags | open);
    if (fstatSync(fd).isFile()) return fd;
    closeSync(fd);
    throw new Error('not a regular file');
  } finally {
    closeSync(folder);
  }
}
