import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallGuard } from '../executor/guard.ts';
import { SandboxError, UnresponsiveError } from '../sandbox.ts';
import type { ExecutorChild } from './executor-child.ts';
import type { PooledExecutor } from './executor-pool.ts';

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
    if (!child.isAlive()) throw new SandboxError('the sandbox has ended; acquire it again');
    executor.active += 1;
    try {
      return await work();
    } catch (error) {
      if (error instanceof UnresponsiveError) await child.stop();
      // The connection breaks shortly before the exit is known. Wait for it, so that the next `acquire` does not return
      // a dying executor.
      if (error instanceof SandboxError) await Promise.race([child.ended, sleep(EXIT_WAIT_MS)]);
      throw error;
    } finally {
      executor.active -= 1;
      executor.usedMs = Date.now();
    }
  };
}
