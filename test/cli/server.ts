import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeScratch } from '../support/scratch.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BIN = join(ROOT, 'bin/capstan');

export type Finished = { code: number | null; out: string; err: string };
export type RunOptions = { input?: string; env?: Record<string, string> };

export type CliServer = {
  url: string;
  dataDir: string;
  env: Record<string, string>;
  /** Runs the real command line to its end. Standard input is empty unless given. */
  capstan(args: string[], options?: RunOptions): Promise<Finished>;
  /** The same while it runs; killed with the server. */
  start(args: string[], options?: RunOptions): ChildProcess;
  /** Resolves with the output of the server from now on, once it matches. */
  watch(pattern: RegExp): Promise<string>;
  /** Ends the server as a crash does; its folder stays until `close`. */
  kill(): Promise<void>;
  close(): Promise<void>;
};

/** Only the variables that programs need are taken from the environment of the test run. */
function buildEnvironment(more: Record<string, string>): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', ...more };
}

export async function collect(child: ChildProcess): Promise<Finished> {
  let out = '';
  let err = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, err }));
  });
}

/** Resolves with all output so far, once it matches. */
export async function waitFor(child: ChildProcess, pattern: RegExp): Promise<string> {
  let seen = '';
  return await new Promise((resolve, reject) => {
    child.once('close', () => reject(new Error(`ended without ${pattern}: ${seen}`)));
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      seen += text;
      if (pattern.test(seen)) resolve(seen);
    });
  });
}

export function run(args: string[], env: Record<string, string>, cwd: string, input?: string): ChildProcess {
  const child = spawn(BIN, args, { env: buildEnvironment(env), cwd });
  if (input !== undefined) child.stdin.end(input);
  return child;
}

/** The whole server as its own process, on a free port and a new folder; `settings` are added to the defaults. */
export async function startServer(settings: Record<string, string> = {}): Promise<CliServer> {
  const folder = makeScratch('cli');
  const dataDir = join(folder, 'data');
  const server = spawn(process.execPath, [join(ROOT, 'src/main.ts'), 'all'], {
    env: buildEnvironment({
      CAPSTAN_PORT: '0',
      CAPSTAN_FSYNC: 'off',
      CAPSTAN_DATA_DIR: dataDir,
      CAPSTAN_LOG_LEVEL: 'warn',
      ...settings,
    }),
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = /listens on (\S+)/.exec(await waitFor(server, /listens on \S+\n/))?.[1] ?? '';
  const ended = new Promise((resolve) => server.once('close', resolve));
  const env = { CAPSTAN_URL: url, CAPSTAN_DATA_DIR: dataDir };
  const children: ChildProcess[] = [];
  const start = (args: string[], options: RunOptions = {}) => {
    const child = run(args, { ...env, ...options.env }, folder, options.input);
    children.push(child);
    return child;
  };
  return {
    url,
    dataDir,
    env,
    start,
    watch: (pattern) => waitFor(server, pattern),
    capstan: (args, options = {}) => collect(start(args, { input: '', ...options })),
    async kill() {
      server.kill('SIGKILL');
      await ended;
    },
    async close() {
      for (const child of children) child.kill('SIGKILL');
      server.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
