import { homedir } from 'node:os';
import { join } from 'node:path';
import type { App } from '../app.ts';

const CACHE = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
const INSTALLED = join(CACHE, 'capstan/login-apps');

/** The folder of an application that `scripts/install-login-registry-apps.sh` installs. */
export const folderOf = (kind: 'python' | 'npm', name: string) => join(INSTALLED, kind, name);

type Command = ReturnType<App['prepare']>;

/** A command that sees the packages of one folder of PyPI's, with variables of its own. */
export function runPython(name: string, args: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  const own = Object.entries({ ...variables, PYTHONPATH: folderOf('python', name), PYTHONDONTWRITEBYTECODE: '1' });
  return { command: 'env', args: [...own.map(([key, value]) => `${key}=${value}`), 'python3', ...args] };
}

/** A program that comes with a package of PyPI. */
export const programOf = (name: string, program: string) => join(folderOf('python', name), 'bin', program);

type Described = Pick<App, 'readyPath'> & { prepare: (start: Parameters<App['prepare']>[0]) => Command };

export const ofPyPI = (name: string, app: Described): App => ({
  name,
  file: join(folderOf('python', name), 'installed'),
  package: `${name} from PyPI`,
  ...app,
});

export const ofNpm = (name: string, app: Described): App => ({
  name,
  file: join(folderOf('npm', name), 'installed'),
  package: `${name} from npm`,
  ...app,
});
