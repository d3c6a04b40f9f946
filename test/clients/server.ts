import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitFor } from '../cli/server.ts';
import { makeScratch } from '../support/scratch.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** A port that was free a moment ago: the server must return on the same port. */
async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The whole server as a process that can be killed and restarted on its port and its data. */
export async function startRestartable() {
  const folder = makeScratch('client');
  const dataDir = join(folder, 'data');
  const port = await findPort();
  const env = {
    PATH: process.env['PATH'] ?? '',
    CAPSTAN_PORT: String(port),
    CAPSTAN_DATA_DIR: dataDir,
    CAPSTAN_LOG_LEVEL: 'warn',
  };
  let child: ChildProcess | undefined;
  const server = {
    baseUrl: `http://127.0.0.1:${port}`,
    get apiKey() {
      return readFileSync(join(dataDir, 'api-key'), 'utf8').trim();
    },
    async start() {
      child = spawn(process.execPath, [MAIN, 'all'], { env, cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
      await waitFor(child, /listens on \S+\n/);
    },
    /** SIGKILL: without a goodbye */
    async kill() {
      const ended = new Promise((resolve) => child?.once('exit', resolve));
      child?.kill('SIGKILL');
      await ended;
    },
    async close() {
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}
