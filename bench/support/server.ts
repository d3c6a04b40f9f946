import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { makeScratch } from '../../test/support/scratch.ts';

/** The product as a user starts it, in its own process on a scratch folder. */
export type BenchServer = {
  url: string;
  key: string;
  /** may create keys of any organization */
  adminKey: string;
  /** from spawn to the line that says it listens */
  readyMs: number;
  pid: number;
  /** resident memory of the process, MiB */
  readMemory(): Promise<number>;
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
  close(): Promise<void>;
};

const KEY = 'cap_bench_key_0123456789';

/** A role of the product in its own process, and its address. Its output goes to ours. */
export async function startRole(
  role: string,
  env: Record<string, string>,
): Promise<{ child: ChildProcess; url: string }> {
  const child = spawn(process.execPath, ['src/main.ts', role], {
    cwd: new URL('../..', import.meta.url),
    env: {
      PATH: process.env['PATH'],
      CAPSTAN_PORT: '0',
      CAPSTAN_LOG_LEVEL: 'warn',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const address = /listens on (\S+)/.exec(text)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once('exit', (code) => reject(new Error(`The server ended with ${code}.`)));
  });
  return { child, url };
}

export async function startBenchServer(env: Record<string, string> = {}, dataDir?: string): Promise<BenchServer> {
  const scratch = dataDir ?? makeScratch('bench');
  const started = performance.now();
  const { child, url } = await startRole('all', {
    CAPSTAN_DATA_DIR: scratch,
    CAPSTAN_API_KEY: KEY,
    CAPSTAN_WORKER_CONCURRENCY: '256',
    ...env,
  });
  const readyMs = performance.now() - started;
  let key = KEY;
  const call = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as T;
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const made = await call<{ key: string }>('POST', '/v1/api-keys', { name: 'bench', requestsPerMinute: 1_000_000 });
  key = made.key;
  return {
    url,
    key,
    adminKey: KEY,
    readyMs,
    pid: child.pid!,
    call,
    async readMemory() {
      const { readFile } = await import('node:fs/promises');
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
    },
    async close() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      if (dataDir === undefined) rmSync(scratch, { recursive: true, force: true });
    },
  };
}
