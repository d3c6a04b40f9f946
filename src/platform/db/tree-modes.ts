import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Sets the modes of a folder, of all folders below it, and of their files. */
export function setTreeModes(dir: string, modes: { folders: number; files: number }): void {
  chmodSync(dir, modes.folders);
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) setTreeModes(path, modes);
    else if (entry.isFile()) chmodSync(path, modes.files);
  }
}
