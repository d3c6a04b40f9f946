import { rgPath } from '@vscode/ripgrep';

/** The ripgrep of the npm dependencies, so that the machine needs none. */
export function findRipgrep(): string {
  return rgPath;
}
