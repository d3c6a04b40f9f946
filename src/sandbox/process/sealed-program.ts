import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { chmod, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { errorText } from '../../platform/errors.ts';
import { SandboxError } from '../sandbox.ts';

const EXECUTE_ONLY = 0o111;

const sealing = new Map<string, Promise<string>>();

/** Shared by all servers of this checkout, so that the copy of 120 MB is made once. */
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/capstan', import.meta.url));

/** The first folder in which this process may write: the checkout's cache, or what `fallback` names. */
export function findSealFolder(fallback: string): string {
  try {
    mkdirSync(CACHE, { recursive: true });
    accessSync(CACHE, constants.W_OK);
    return CACHE;
  } catch {
    return fallback;
  }
}

/**
 * A copy of a program that everyone may run and nobody may read, made once in `dir`. Linux keeps processes of such a file
 * out of reach of others of the same user: no ptrace, no `/proc/<pid>/mem`, `fd` or `environ`. Throws `SandboxError`
 * where it cannot be made.
 */
export function sealProgram(program: string, dir: string): Promise<string> {
  const { size, mtimeMs } = statSync(program);
  const path = join(dir, `sealed-${size}-${Math.round(mtimeMs)}`);
  if (existsSync(path)) return Promise.resolve(path);
  const running = sealing.get(path);
  if (running !== undefined) return running;
  const work = copySealed(program, path).finally(() => sealing.delete(path));
  sealing.set(path, work);
  return work;
}

async function copySealed(program: string, path: string): Promise<string> {
  const unfinished = `${path}.${randomUUID()}`;
  try {
    // By a program of its own: a descriptor open for writing here would be inherited by whatever starts meanwhile, and
    // the kernel runs no file that somebody may still write to.
    await promisify(execFile)('cp', ['--reflink=auto', '--', program, unfinished]);
    await chmod(unfinished, EXECUTE_ONLY);
    await rename(unfinished, path);
    return path;
  } catch (error) {
    throw new SandboxError(`the executor's program cannot be copied: ${errorText(error)}`, { cause: error });
  }
}
