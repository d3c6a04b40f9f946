import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Searched in this order, independently of PATH. */
const PLACES = ['/usr/local/bin', '/usr/bin', '/bin'];

export type ProgramName = 'ffmpeg' | 'ffprobe' | 'prlimit' | 'bwrap' | 'unshare' | 'true';

/** Finds the path of an installed program. */
export function findProgram(name: ProgramName, places: readonly string[] = PLACES): string | undefined {
  return places.map((place) => join(place, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
