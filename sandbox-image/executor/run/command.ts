import type { RunResult } from '../../../src/sandbox/protocol/executor.ts';
import { awaitEnd } from './end.ts';
import { openLiveOutput } from './live-output.ts';
import { collectOutput } from './output.ts';
import type { Shell } from './shell.ts';

/** Runs one command until it ends; kills its process tree at the timeout (exit code 124) or at the abort (130). */
export async function runCommand(
  shell: Shell,
  input: { command: string; workdir?: string; shell?: string; timeoutMs: number; stdin?: string },
  signal: AbortSignal,
  onOutput: ((text: string) => void) | undefined,
): Promise<RunResult> {
  const started = shell.start({
    command: input.command,
    ...(input.workdir === undefined ? {} : { workdir: input.workdir }),
    ...(input.shell === undefined ? {} : { shell: input.shell }),
    stdin: input.stdin !== undefined,
    persistState: true,
  });
  const { child } = started;
  const output = collectOutput();
  const live = onOutput === undefined ? undefined : openLiveOutput(onOutput);
  const take = (chunk: Buffer): void => {
    const text = output.push(chunk);
    live?.push(text);
  };
  child.stdout?.on('data', take);
  child.stderr?.on('data', take);
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input.stdin ?? '');
  const end = await awaitEnd(started, input.timeoutMs, signal).finally(() => live?.stop());
  return { output: output.end(), ...end, cwd: shell.readCwd(input.shell) };
}
