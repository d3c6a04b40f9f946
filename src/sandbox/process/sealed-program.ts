import { constants, existsSync, statSync } from 'node:fs';
import { chmod, copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';

const EXECUTE_ONLY = 0o111;

/**
 * A copy of a program that everyone may run and nobody may read, made once in `dir`. Linux keeps processes of such a file
 * out of reach of others of the same user: no ptrace, no `/proc/<pid>/mem`, `fd` or `environ`.
 */
export async function sealProgram(program: string, dir: string): Promise<string> {
  const { size, mtimeMs } = statSync(program);
  const path = join(dir, `sealed-${size}-${Math.round(mtimeMs)}`);
  if (existsSync(path)) return path;
  const unfinished = `${path}.${process.pid}`;
  await copyFile(program, unfinished, constants.COPYFILE_FICLONE);
  await chmod(unfinished, EXECUTE_ONLY);
  await rename(unfinished, path);
  return path;
}
