import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import type { Readable } from 'node:stream';
import { CapstanError } from '../../platform/errors.ts';
import { buildIsolation, buildLimits, findIsolation } from './isolation.ts';
import type { Access, Limits } from './isolation.ts';
import { findProgram } from './programs.ts';

export type MediaRun = Access & {
  program: 'ffmpeg' | 'ffprobe';
  args: readonly string[];
  limits: Limits;
  signal?: AbortSignal;
  /** folders to search for the program; default: the system's */
  places?: readonly string[];
  /** called with each line of stdout while the program runs; absent: stdout is collected */
  onLine?(line: string): void;
};

export type MediaErrorCode =
  /** the program is not installed */
  | 'missing'
  /** the time limit or the CPU time limit was exceeded */
  | 'timeout'
  /** the program failed; see `detail` */
  | 'failed';

/** A failed run. `detail` is the program's stderr, for the log and never for callers. */
export class MediaRunError extends CapstanError<MediaErrorCode> {
  readonly detail: string;

  constructor(code: MediaErrorCode, message: string, detail = '') {
    super(code, message);
    this.detail = detail;
  }
}

const MAX_STDOUT = 4 * 1024 * 1024;
const MAX_STDERR = 8 * 1024;

/** Contains nothing of the server's environment. Few memory arenas, because each reserves limited address space. */
const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C.UTF-8', HOME: '/tmp', MALLOC_ARENA_MAX: '2' };

/**
 * Runs ffmpeg or ffprobe in isolation with resource limits, without a shell, at low priority, and returns its stdout.
 * If the signal aborts, the whole process group is killed and the signal's reason is thrown. Throws `MediaRunError`.
 */
export async function runMedia(run: MediaRun): Promise<string> {
  const program = findProgram(run.program, run.places);
  if (program === undefined) {
    throw new MediaRunError(
      'missing',
      `${run.program} is not installed on this machine: install the system's package "ffmpeg".`,
    );
  }
  run.signal?.throwIfAborted();
  const walls = buildIsolation(await findIsolation(), run);
  const [file = program, ...args] = [...buildLimits(run.limits), ...walls, program, ...run.args];
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env: ENV, detached: true });
  return await waitForExit(child, run);
}

function waitForExit(child: ChildProcessByStdio<null, Readable, Readable>, run: MediaRun): Promise<string> {
  return new Promise((resolve, reject) => {
    const stderr = collect(child.stderr, MAX_STDERR);
    const stdout = run.onLine === undefined ? collect(child.stdout, MAX_STDOUT) : undefined;
    if (run.onLine !== undefined) readLines(child.stdout, (line) => run.onLine?.(line));
    lowerPriority(child.pid);

    let late = false;
    const kill = () => killGroup(child.pid);
    const timer = setTimeout(() => {
      late = true;
      kill();
    }, run.limits.wallMs);
    run.signal?.addEventListener('abort', kill, { once: true });
    const settle = () => {
      clearTimeout(timer);
      run.signal?.removeEventListener('abort', kill);
    };

    child.once('error', (error) => {
      settle();
      reject(new MediaRunError('failed', `${run.program} could not be started.`, error.message));
    });
    child.once('close', (code, signal) => {
      settle();
      if (run.signal?.aborted === true) return reject(run.signal.reason as Error);
      // bwrap reports the signal that ended its child as 128 plus its number.
      const spent = signal === 'SIGXCPU' || code === 128 + constants.signals.SIGXCPU;
      const killed = signal === 'SIGKILL' || code === 128 + constants.signals.SIGKILL;
      if (late || spent || killed) {
        return reject(new MediaRunError('timeout', `${run.program} took too long.`, stderr()));
      }
      if (code !== 0) return reject(new MediaRunError('failed', `${run.program} failed.`, stderr()));
      resolve(stdout?.() ?? '');
    });
  });
}

function collect(stream: Readable, limit: number): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    if (bytes < limit) chunks.push(chunk.subarray(0, limit - bytes));
    bytes += chunk.length;
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

function readLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = (lines.pop() ?? '').slice(-MAX_STDERR);
    lines.forEach(onLine);
  });
}

/** Low priority, because requests matter more than renders. */
function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has already ended.
  }
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // The whole group has ended.
  }
}
