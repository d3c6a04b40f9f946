import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallGuard } from '../executor/guard.ts';
import { SandboxError, SandboxUnreachedError, UnresponsiveError } from '../sandbox.ts';
import type { SandboxSession } from '../sandbox.ts';
import type { ExecutorChild } from './executor-child.ts';
import type { Watched } from './watchdog.ts';
import { formatMib } from './limits.ts';
import type { PooledExecutor } from './pooled-executor.ts';

/** How long a failed call waits for the executor's exit to become known. */
const EXIT_WAIT_MS = 1000;

/** An open body keeps its executor from being stopped as idle. */
export function keepActiveWhileOpen(executor: PooledExecutor, body: Readable): void {
  executor.active += 1;
  body.once('close', () => {
    executor.active -= 1;
    executor.usedMs = Date.now();
  });
}

/** Counts each call as use of the executor, and rejects calls after its end. */
export function buildGuard(executor: PooledExecutor, child: ExecutorChild): CallGuard {
  return async (work) => {
    if (!child.isAlive()) throw new SandboxUnreachedError('the sandbox has ended; acquire it again');
    executor.active += 1;
    try {
      return await work();
    } catch (error) {
      if (error instanceof UnresponsiveError) await child.stop();
      // The connection breaks shortly before the exit is known. Wait for it, so that the next `acquire` does not return
      // a dying executor.
      if (!(error instanceof SandboxError)) throw error;
      await Promise.race([child.ended, sleep(EXIT_WAIT_MS)]);
      const reason = child.describeEnd();
      if (reason === undefined) throw error;
      const Failure = error instanceof SandboxUnreachedError ? SandboxUnreachedError : SandboxError;
      throw new Failure(reason, { cause: error });
    } finally {
      executor.active -= 1;
      executor.usedMs = Date.now();
    }
  };
}

/** The session's commands, whose output names the memory limit when the kernel killed one of its processes. */
export function explainOutOfMemory(
  child: ExecutorChild,
  memoryBytes: number,
): Pick<SandboxSession, 'run' | 'runScript'> {
  const { client, group } = child;
  const explain = async <T extends { output: string }>(work: () => Promise<T>): Promise<T> => {
    const before = group?.countOomKills() ?? 0;
    const result = await work();
    if (group === undefined || group.countOomKills() === before) return result;
    const note = `[Out of memory: the sandbox may use ${formatMib(memoryBytes)}, files in /tmp included. The kernel killed a process.]`;
    return { ...result, output: `${result.output}\n${note}\n` };
  };
  return {
    run: (request, signal) => explain(() => client.run(request, signal)),
    runScript: (request, signal) => explain(() => client.runScript(request, signal)),
  };
}

/** What the watchdog needs to know of an executor that has started. */
export function describeWatched({ volume, started, active }: PooledExecutor): Watched[] {
  if (started === undefined || !started.isAlive()) return [];
  const isActive = active > 0 || started.client.hasStartedProcess();
  return [
    {
      volume,
      rootPid: started.rootPid,
      isGrouped: started.group !== undefined,
      isUsed: isActive || started.client.hasRunCommand(),
      isActive,
      stop: (reason) => started.stop(reason),
    },
  ];
}
