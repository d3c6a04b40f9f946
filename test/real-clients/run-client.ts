import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { FORMATS, UPSTREAM_FORMATS } from '../gateway/harness.ts';
import type { Task } from './task.ts';

const PACKAGES = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'capstan');
/** The formats of providers that the coding clients run over; `make test-client-matrix` adds the native ones. */
export const CLIENT_UPSTREAMS = process.env.CAPSTAN_CLIENT_MATRIX === '1' ? UPSTREAM_FORMATS : FORMATS;

const DEADLINE_MS = 200_000;

export type ClientSettings = {
  environment: Record<string, string>;
  /** the client is killed after this time; default 200,000 */
  deadlineMs?: number;
};

export type ClientRun = {
  /** JSON lines of the standard output */
  events: Record<string, unknown>[];
  stderr: string;
  /** hosts that the client tried to reach and may not: all but loopback */
  reachedFor: string[];
};

/** A proxy that refuses every connection and records its target. */
async function openBarrier(): Promise<{ url: string; asked: string[]; close(): void }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(403).end();
  });
  server.on('connect', (request, socket) => {
    asked.push(request.url ?? '');
    // The client may be gone already.
    socket.on('error', () => undefined);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function parseLine(line: string): Record<string, unknown>[] {
  return line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : [];
}

/**
 * Runs a program of the installed clients in the task's folder until it ends, without the environment of this process.
 * `program` is a script or a binary in the folder of installed clients. Throws if the make target has not installed it,
 * or if the exit code is not 0.
 */
export async function runClient(
  program: string,
  args: string[],
  task: Task,
  { environment, deadlineMs = DEADLINE_MS }: ClientSettings,
): Promise<ClientRun> {
  const path = join(PACKAGES, program);
  if (!existsSync(path)) throw new Error(`${program} is not installed: run \`make test-client-matrix\``);
  const barrier = await openBarrier();
  const [command, ...before] = /\.c?js$/.test(program) ? [process.execPath, path] : [path];
  const child = spawn(command, [...before, ...args], {
    cwd: task.folder,
    env: {
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: task.home,
      HTTP_PROXY: barrier.url,
      HTTPS_PROXY: barrier.url,
      NO_PROXY: '127.0.0.1',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: deadlineMs,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  try {
    const [exitCode] = (await once(child, 'close')) as [number | null];
    if (exitCode !== 0) throw new Error(`${program} ended with ${exitCode}: ${stderr}\n${stdout}`);
    return { events: stdout.split('\n').flatMap(parseLine), stderr, reachedFor: barrier.asked };
  } finally {
    barrier.close();
  }
}
