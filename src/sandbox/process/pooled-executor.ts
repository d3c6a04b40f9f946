import { setTimeout as sleep } from 'node:timers/promises';
import { SandboxError } from '../sandbox.ts';
import type { VolumeFiles } from '../sandbox.ts';
import type { ExecutorChild } from './executor-child.ts';

/** A running executor. Without a session it is a standby: it serves files until a session adopts it. */
export type PooledExecutor = {
  /** the volume's folder */
  volume: string;
  session: { key: string; id: string } | undefined;
  child: Promise<ExecutorChild>;
  /** the child, once it has started */
  started: ExecutorChild | undefined;
  /** the volume's files through this executor, once requested */
  files: VolumeFiles | undefined;
  startedMs: number;
  usedMs: number;
  /** calls in progress */
  active: number;
  /** resolves once the session's saved state is in place; undefined before its first `acquire` */
  resumed: Promise<void> | undefined;
};

/** True while it starts, too. */
export function isAlive(executor: PooledExecutor): boolean {
  return executor.started?.isAlive() !== false;
}

export async function hasRunningProcess(executor: PooledExecutor): Promise<boolean> {
  const child = await executor.child.catch(() => undefined);
  if (child?.client.hasStartedProcess() !== true) return false;
  const processes = await child?.client.listProcesses().catch(() => []);
  return processes?.some((process) => process.status === 'running') === true;
}

/** Waits at most `ms` for the executor to start. The start continues for later callers. */
export async function waitStarted(executor: PooledExecutor, ms: number): Promise<ExecutorChild> {
  if (executor.started !== undefined) return executor.started;
  const abort = new AbortController();
  try {
    const timeout = sleep(ms, undefined, { signal: abort.signal, ref: false }).catch(() => undefined);
    const child = await Promise.race([executor.child, timeout]);
    if (child === undefined) throw new SandboxError('the sandbox is still warming up');
    return child;
  } finally {
    abort.abort();
  }
}
