// Tests: test/sandbox/process/suspended.test.ts
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MAX_STATE_LENGTH } from '../../../src/sandbox/protocol/executor.ts';
import type { ProcessTable } from '../processes/table.ts';
import type { Settings } from '../settings.ts';
import { countOthers } from './process-limit.ts';
import { readSmallFile } from './small-file.ts';

/** Of one shell: the exported environment as bash writes it, and the working directory. */
type ShellState = { env: string | null; cwd: string | null };
/** By name; the session's own shell is `''`. */
type SavedState = Record<string, ShellState>;

const FOLDERS = ['/tmp', '/dev/shm'];

/**
 * What the next sandbox of the session needs to go on where this one ended: environment and working directory of its
 * shells, as JSON. Null when something else would be lost: a process, a finished process whose output is kept, a file in
 * memory, or more than `MAX_STATE_LENGTH` characters.
 */
export function saveState(settings: Settings, processes: ProcessTable): string | null {
  if (!settings.ownPids || processes.list().length > 0 || countOthers() > 0) return null;
  try {
    if (hasFilesInMemory(settings.stateDir)) return null;
    const names = ['', ...listNames(join(settings.stateDir, 'shells'))];
    const state: SavedState = Object.fromEntries(names.map((name) => [name, readShell(findFolder(settings, name))]));
    const text = JSON.stringify(state);
    return text.length > MAX_STATE_LENGTH ? null : text;
  } catch {
    // A command has put something else in the place of a file, or it is larger than any state: the sandbox goes on.
    return null;
  }
}

/** False when the text is no state. Call it before the first command. */
export function restoreState(settings: Settings, text: string): boolean {
  const state = parseState(text);
  if (state === undefined) return false;
  for (const [name, shell] of Object.entries(state)) {
    const folder = findFolder(settings, name);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (shell.env !== null) writeFileSync(join(folder, 'env'), shell.env, { mode: 0o600 });
    if (shell.cwd !== null) writeFileSync(join(folder, 'cwd'), shell.cwd, { mode: 0o600 });
  }
  return true;
}

const findFolder = (settings: Settings, name: string): string =>
  name === '' ? settings.stateDir : join(settings.stateDir, 'shells', name);

function hasFilesInMemory(stateDir: string): boolean {
  return FOLDERS.some((folder) =>
    listNames(folder).some((name) => folder !== dirname(stateDir) || name !== basename(stateDir)),
  );
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function readShell(folder: string): ShellState {
  return {
    env: readSmallFile(join(folder, 'env'), MAX_STATE_LENGTH),
    cwd: readSmallFile(join(folder, 'cwd'), MAX_STATE_LENGTH),
  };
}

function parseState(text: string): SavedState | undefined {
  try {
    const state: unknown = JSON.parse(text);
    return isState(state) ? state : undefined;
  } catch {
    return undefined;
  }
}

function isState(value: unknown): value is SavedState {
  const isPart = (part: unknown): boolean => part === null || typeof part === 'string';
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).every(
    ([name, shell]: [string, Partial<ShellState> | null]) =>
      /^\w{0,64}$/.test(name) && shell !== null && isPart(shell.env) && isPart(shell.cwd),
  );
}
