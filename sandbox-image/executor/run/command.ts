import type { RunResult } from '../../../src/contract/executor.ts';
import { Fault } from '../fault.ts';
import { killTree } from './kill.ts';
import { collectOutput } from './output.ts';
import type { Shell } from './shell.ts';

/** How long output may still come from children that outlive the shell and hold its pipe. */
const DRAIN_MS = 200;

/** Runs one command to its end, its timeout (exit code 124) or the signal's abort (130), tree and all. */
export async function runCommand(
  shell: Shell,
  input: { command: string; workdir?: string; timeoutMs: number; stdin?: string },
  signal: AbortSignal,
  onOutput: (text: string) => void,
): Promise<RunResult> {
  const { child, mark } = shell.start({
    command: input.command,
    ...(input.workdir === undefined ? {} : { workdir: input.workdir }),
    stdin: input.stdin !== undefined,
    keep: true,
  });
  const output = collectOutput();
  const take = (chunk: Buffer): void => {
    const text = output.push(chunk);
    if (text !== '') onOutput(text);
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input.stdin ?? '');

  let cause: 'timeout' | 'abort' | undefined;
  let killing: Promise<void> | undefined;
  const stop = (why: 'timeout' | 'abort'): void => {
    cause ??= why;
    if (child.pid !== undefined) killing ??= killTree(child.pid, mark);
  };
  const onAbort = (): void => stop('abort');
  const timer = setTimeout(() => stop('timeout'), input.timeoutMs);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const code = await new Promise<number>((resolve, reject) => {
      let exit: number | undefined;
      child.on('error', (error) => reject(new Fault('internal', 'SPAWN', `could not start bash: ${error.message}`)));
      child.on('exit', (status, name) => {
        exit = status ?? 128 + (SIGNALS[name ?? ''] ?? 0);
        setTimeout(() => resolve(exit ?? 0), DRAIN_MS);
      });
      child.on('close', () => {
        if (exit !== undefined) resolve(exit);
      });
    });
    await killing;
    const exitCode = cause === 'timeout' ? 124 : cause === 'abort' ? 130 : code;
    return { output: output.end(), exitCode, timedOut: cause === 'timeout', cwd: shell.readCwd() };
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
