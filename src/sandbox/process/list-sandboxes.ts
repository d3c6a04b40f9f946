import type { SandboxInfo } from '../sandbox.ts';
import type { PooledExecutor } from './pooled-executor.ts';
import { findRecord } from './volume-record.ts';
import { readSessionKey } from './volumes.ts';

/** `usage`: bytes in use by volume folder, as executors reported last. */
export function listSandboxes(
  executors: readonly PooledExecutor[],
  organizationId: string,
  usage: ReadonlyMap<string, number>,
): SandboxInfo[] {
  return executors.flatMap(({ session, started, startedMs, volume }) => {
    if (session === undefined) return [];
    const target = readSessionKey(session.key);
    if (target.organizationId !== organizationId) return [];
    const record = findRecord(volume);
    const { agentId, subjectId, sessionId } = target;
    return {
      agentId,
      subjectId,
      sessionId,
      phase: started === undefined ? 'starting' : started.isAlive() ? 'running' : 'stopping',
      reason: undefined,
      node: undefined,
      pod: undefined,
      startedAt: new Date(startedMs),
      volume:
        record === undefined
          ? undefined
          : { usedBytes: usage.get(volume) ?? record.usedBytes, sizeBytes: record.sizeBytes },
    };
  });
}
