import { rgPath } from '@vscode/ripgrep';

/** The ripgrep that comes with the dependencies: the machine need not have one. */
export function findRipgrep(): string {
  return rgPath;
}
