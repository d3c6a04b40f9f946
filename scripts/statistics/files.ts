import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Paths of the TypeScript files below `folders`, relative to `root`; missing folders have none. */
export function listFiles(root: string, folders: readonly string[]): string[] {
  return folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((path) => path.endsWith('.ts') && !path.includes('/generated/') && !path.includes('node_modules/'))
    .sort();
}
