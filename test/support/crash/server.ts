import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { findProgram } from '../services/process.ts';
import { ARMED, POINT_VARIABLE } from './point.ts';
import type { CrashPoint } from './point.ts';

const MAIN = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const PRELOAD = new URL('./preload.ts', import.meta.url).href;
/** The embedded database is compiled anew at each start: as little of it as can be, since these servers die young. */
const QUICK_START = ['--liftoff-only', '--wasm-lazy-compilation'];
const LOG_CHARACTERS = 20_000;

export type End = { code: number | null; signal: NodeJS.Signals | null };

/** One process of the product. */
export type ServerProcess = {
  /** The address once it serves (empty for a role without one), or its exit if it ended before. */
  ready: Promise<{ url: string } | End>;
  ended: Promise<End>;
  /** Moves or removes its crash point. Resolves when that is done, or when the process has ended. */
  arm(point: CrashPoint | null): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** the end of what it printed */
  output(): string;
};

/** Starts `node src/main.ts <role>`, which kills itself at the point, if one is given. */
export function spawnServer(options: {
  role: 'all' | 'api' | 'gateway' | 'worker' | 'video';
  env: Record<string, string>;
  point?: CrashPoint | undefined;
}): ServerProcess {
  const { role, env, point } = options;
  // Should the test run be killed, the kernel ends the server too.
  const setpriv = findProgram('setpriv');
  const [program, ...prefix] = [...(setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL']), process.execPath];
  const child = spawn(program ?? '', [...prefix, ...QUICK_START, '--import', PRELOAD, MAIN, role], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH ?? '',
      CAPSTAN_FSYNC: 'off',
      ...env,
      CAPSTAN_PORT: '0',
      ...(point === undefined ? {} : { [POINT_VARIABLE]: JSON.stringify(point) }),
    },
  });
  return watch(child);
}

function watch(child: ChildProcess): ServerProcess {
  let text = '';
  const ended = new Promise<End>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: -1, signal: null }));
  });
  const listening = new Promise<{ url: string }>((resolve) => {
    const read = (chunk: Buffer) => {
      text = (text + chunk.toString('utf8')).slice(-LOG_CHARACTERS);
      const url = /Capstan listens on (\S+)/.exec(text)?.[1];
      if (url !== undefined || text.includes('"msg":"ready"')) resolve({ url: url ?? '' });
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
  });
  // Writes to an ended process are ignored: `ended` reports it.
  child.stdin?.on('error', () => {});
  return {
    ready: Promise.race([listening, ended]),
    ended,
    async arm(point) {
      const armed = new Promise<void>((resolve) => {
        const read = (chunk: Buffer) => {
          if (!chunk.toString('utf8').split('\n').includes(ARMED)) return;
          child.stdout?.off('data', read);
          resolve();
        };
        child.stdout?.on('data', read);
      });
      child.stdin?.write(`${JSON.stringify(point)}\n`);
      await Promise.race([armed, ended]);
    },
    signal: (name) => void child.kill(name),
    output: () => text,
  };
}
