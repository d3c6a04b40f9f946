import { closeSync, constants, fstatSync, openSync } from 'node:fs';

/** Linux's O_PATH, which `fs.constants` leaves out. */
const O_PATH = 0x200000;

/**
 * Opens the regular file at `path` below the folder `root`. Each component is opened relative to the previous one and
 * none may be a link, so the file is in that tree even if programs change the tree meanwhile. Throws for anything else.
 * `root` itself is trusted.
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
    // neither a pipe nor a file lease may block the open
    const open = constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const fd = openSync(`/proc/self/fd/${folder}/${last}`, flags | open);
    if (fstatSync(fd).isFile()) return fd;
    closeSync(fd);
    throw new Error('not a regular file');
  } finally {
    closeSync(folder);
  }
}
