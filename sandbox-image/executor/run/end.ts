import type { ChildProcess } from 'node:child_process';
import { ExecutorError } from '../executor-error.ts';
import { killTree } from './kill.ts';

/** How long to wait for output of children that outlive the program and hold its pipe. */
const DRAIN_MS = 200;
/** Grace periods of a process tree after a timeout and after an interrupt. */
const TIMEOUT_GRACE_MS = 2000;
const ABORT_GRACE_MS = 500;

/** Waits for the child's end; kills the process tree at the timeout (exit code 124) or at the abort (130). */
export async function awaitEnd(
  { child, mark }: { child: ChildProcess; mark: string },
  timeoutMs: number,
  signal: AbortSignal,
): Promise<{ exitCode: number; timedOut: boolean }> {
  let cause: 'timeout' | 'abort' | undefined;
  let killing: Promise<void> | undefined;
  const stop = (why: 'timeout' | 'abort'): void => {
    cause ??= why;
    const graceMs = why === 'abort' ? ABORT_GRACE_MS : TIMEOUT_GRACE_MS;
    if (child.pid !== undefined) killing ??= killTree(child.pid, mark, graceMs);
  };
  const onAbort = (): void => stop('abort');
  const timer = setTimeout(() => stop('timeout'), timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const code = await new Promise<number>((resolve, reject) => {
      let exit: number | undefined;
      child.on('error', (error) =>
        reject(new ExecutorError('internal', 'SPAWN', `could not start bash: ${error.message}`)),
      );
      child.on('exit', (status, name) => {
        exit = status ?? 128 + (SIGNALS[name ?? ''] ?? 0);
        setTimeout(() => resolve(exit ?? 0), DRAIN_MS);
      });
      child.on('close', () => {
        if (exit !== undefined) resolve(exit);
      });
    });
    await killing;
    return { exitCode: cause === 'timeout' ? 124 : cause === 'abort' ? 130 : code, timedOut: cause === 'timeout' };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

const SIGNALS: Record<string, number> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
};
