import { execFile, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { promisify } from 'node:util';
import type { Command } from 'commander';
import { errorText } from '../platform/errors.ts';
import { takeLock } from '../platform/db/lock.ts';
import { syncPath, syncTree } from '../platform/db/sync-tree.ts';
import { CliError } from './cli-error.ts';
import { buildContext } from './context.ts';
import type { Environment } from './connection.ts';

const run = promisify(execFile);

const DATABASE = 'database';
/** Belongs to a process, or is half of something. */
const TRANSIENT = /^(database\.(lock|new)|restore\.new|tmp$)/;

function findDataDir(env: Environment): string {
  return resolve(env['CAPSTAN_DATA_DIR'] || 'data');
}

/** Holds the lock, so that no other process opens the database meanwhile. */
async function withLock<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  let lock;
  try {
    lock = takeLock(join(dataDir, `${DATABASE}.lock`), `The database in ${dataDir}`);
  } catch (error) {
    throw new CliError(`${errorText(error)} Stop the server first.`);
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function describeTarError(error: unknown): CliError {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new CliError('The program tar is not installed.');
  const { stderr } = error as { stderr?: string };
  return new CliError(`tar failed: ${(stderr ?? errorText(error)).trim()}`);
}

/** Writes an archive of the entries to a file that only its owner can read. */
async function pack(dataDir: string, entries: readonly string[], file: string): Promise<void> {
  const output = openSync(file, 'wx', 0o600);
  try {
    const tar = spawn('tar', ['-C', dataDir, '--numeric-owner', '--sparse', '-cz', '--', ...entries], {
      stdio: ['ignore', output, 'pipe'],
    });
    let stderr = '';
    tar.stderr?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-2000)));
    await new Promise<void>((done, fail) => {
      tar.once('error', (error) => fail(describeTarError(error)));
      tar.once('close', (code) => (code === 0 ? done() : fail(describeTarError({ stderr }))));
    });
  } finally {
    closeSync(output);
  }
}

/** Packs the data folder of a server that does not run. Returns the size of the file in bytes. */
async function backUp(dataDir: string, file: string): Promise<number> {
  if (!existsSync(join(dataDir, DATABASE))) throw new CliError(`There is no embedded database in ${dataDir}.`);
  if (existsSync(file)) throw new CliError(`${file} exists already.`);
  if (file.startsWith(dataDir + sep)) throw new CliError('The backup cannot lie in the data folder.');
  return withLock(dataDir, async () => {
    const partial = `${file}.partial`;
    rmSync(partial, { force: true });
    try {
      await pack(
        dataDir,
        readdirSync(dataDir).filter((name) => !TRANSIENT.test(name)),
        partial,
      );
      await syncPath(partial);
      renameSync(partial, file);
      await syncPath(dirname(file));
    } finally {
      rmSync(partial, { force: true });
    }
    return statSync(file).size;
  });
}

/** Unpacks a backup into a data folder without a database. The database comes last: half a restore does not start. */
async function restore(dataDir: string, file: string): Promise<void> {
  if (!existsSync(file)) throw new CliError(`There is no file ${file}.`);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  await withLock(dataDir, async () => {
    const taken = readdirSync(dataDir).filter((name) => !TRANSIENT.test(name));
    if (taken.length > 0) {
      throw new CliError(`${dataDir} is not empty (${taken.join(', ')}). Move it away, then restore again.`);
    }
    const draft = join(dataDir, 'restore.new');
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o700 });
    try {
      await run('tar', ['-C', draft, '--numeric-owner', '-xzpf', file]).catch((error: unknown) => {
        throw describeTarError(error);
      });
      if (!existsSync(join(draft, DATABASE, 'PG_VERSION'))) throw new CliError(`${file} is not a backup of Capstan.`);
      await syncTree(draft);
      const names = readdirSync(draft).filter((name) => name !== DATABASE);
      for (const name of [...names, DATABASE]) renameSync(join(draft, name), join(dataDir, name));
      await syncPath(dataDir);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  });
}

export function addBackupCommands(program: Command): void {
  program
    .command('backup <file>')
    .description('pack the data folder (CAPSTAN_DATA_DIR) of a stopped server: database, objects, volumes, keys')
    .action(async (file: string, _flags: object, command: Command) => {
      const context = buildContext(command);
      const dataDir = findDataDir(context.env);
      const path = resolve(file);
      const sizeBytes = await backUp(dataDir, path);
      const secret = existsSync(join(dataDir, 'master-key'))
        ? 'It contains the master key: keep it secret.'
        : 'The master key is not in it: keep CAPSTAN_MASTER_KEY as well.';
      context.show(
        { object: 'backup', file: path, sizeBytes },
        () => `Backed up ${dataDir} to ${path}, ${(sizeBytes / 1024 / 1024).toFixed(1)} MiB. ${secret}`,
      );
    });

  program
    .command('restore <file>')
    .description('unpack a backup into an empty data folder (CAPSTAN_DATA_DIR)')
    .action(async (file: string, _flags: object, command: Command) => {
      const context = buildContext(command);
      const dataDir = findDataDir(context.env);
      await restore(dataDir, resolve(file));
      context.show({ object: 'restore', dataDir }, () => `Restored ${dataDir}. Start the server.`);
    });
}
