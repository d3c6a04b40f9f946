import type { Db } from '../../platform/db/db.ts';
import { advanceDue, hasDue, lockDue, startRuns } from '../store/automation-runs.ts';
import type { StartedRun } from '../store/automation-runs.ts';
import { decideDue } from './decide.ts';

/**
 * Runs up to `limit` automations whose time has come. The next time is set in the transaction that makes the session and
 * its first prompt: whoever dies before the commit has done nothing, and after it nobody finds the occurrence again.
 */
export async function runDue(db: Db, limit: number): Promise<{ claimed: number; started: StartedRun[] }> {
  if (!(await hasDue(db))) return { claimed: 0, started: [] };
  return await db.transaction(async (tx) => {
    const { now, due } = await lockDue(tx, limit);
    if (due.length === 0) return { claimed: 0, started: [] };
    const decided = due.map((automation) => ({ automation, decision: decideDue(automation, now) }));
    await advanceDue(
      tx,
      decided.map(({ automation, decision }) => ({
        id: automation.id,
        nextRunAt: decision.nextRunAt,
        skipped: decision.kind === 'skip',
        failure: decision.kind === 'fail' ? decision.reason : null,
      })),
    );
    const starting = decided.filter(({ decision }) => decision.kind === 'start');
    const started = await startRuns(
      tx,
      starting.map(({ automation }) => ({ automation, version: automation.version, scheduled: true })),
    );
    return { claimed: due.length, started };
  });
}
