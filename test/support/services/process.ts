import { spawn } from 'node:child_process';
import { createWriteStream, existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A real server of a test run. `stop` ends it and deletes what it kept; `pause` makes it hang until `resume`. */
export type Service = { url: string; pause(): void; resume(): void; stop(): Promise<void> };

/** The first of these programs that exists; names without `/` are looked for on the usual paths. */
export function findProgram(...names: string[]): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/local/bin', '/usr/bin', '/usr/sbin'];
  return names
    .flatMap((name) => (name.includes('/') ? [name] : folders.map((folder) => join(folder, name))))
    .find((path) => existsSync(path));
}

/** A port of 127.0.0.1 that was free a moment ago. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * Starts a server in a process group of its own, its output in `<scratch>/log`, and waits until `ready` no longer
 * throws. Ending it deletes `scratch`.
 */
export async function startServer(options: {
  command: string;
  args: string[];
  user?: { uid: number; gid: number } | undefined;
  scratch: string;
  url: string;
  ready: () => Promise<void>;
  /** what ends it at once; SIGTERM unless told */
  signal?: NodeJS.Signals;
  /** how often `ready` is asked, 25 ms apart; 400 unless told */
  attempts?: number;
}): Promise<Service> {
  const { command, args, scratch, url, signal = 'SIGTERM', attempts = 400 } = options;
  const logPath = join(scratch, 'log');
  // Should the test run be killed, the kernel ends the server too.
  const setpriv = findProgram('setpriv');
  const guard = setpriv ? [setpriv, '--pdeathsig', signal.replace('SIG', '')] : ['env'];
  const [program = 'env', ...prefix] = guard;
  const child = spawn(program, [...prefix, command, ...args], {
    cwd: scratch,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options.user,
  });
  const log = createWriteStream(logPath);
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  let failed: Error | undefined;
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error) => {
      failed = error;
      resolve();
    });
  });
  const kill = (name: NodeJS.Signals) => {
    try {
      if (child.pid) process.kill(-child.pid, name);
    } catch {
      // the group is gone already
    }
  };
  const stop = async () => {
    kill('SIGCONT');
    kill(signal);
    const late = setTimeout(() => kill('SIGKILL'), 5_000);
    await exited;
    clearTimeout(late);
    rmSync(scratch, { recursive: true, force: true });
  };
  for (let attempt = 0; ; attempt += 1) {
    try {
      await options.ready();
      return { url, stop, pause: () => kill('SIGSTOP'), resume: () => kill('SIGCONT') };
    } catch (error) {
      if (attempt > attempts || failed || child.exitCode !== null) {
        const output = existsSync(logPath) ? readFileSync(logPath, 'utf8').slice(-2_000) : '';
        await stop();
        throw new Error(`${command} did not start: ${failed?.message ?? ''} ${output}`, { cause: error });
      }
    }
    await sleep(25);
  }
}
