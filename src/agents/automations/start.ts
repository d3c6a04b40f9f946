import type { Bus } from '../../platform/bus/bus.ts';
import { publishEvents, sendWake } from '../channels.ts';
import type { Db } from '../../platform/db/db.ts';
import { PollGate } from '../../platform/jobs/poll-gate.ts';
import { startPeriodicTasks } from '../../platform/jobs/periodic-tasks.ts';
import type { Logger } from '../../platform/log.ts';
import { readAutomationDueMs } from '../store/automation-runs.ts';
import { runDue } from './run-due.ts';

export type AutomationsDeps = { db: Db; bus: Bus; log: Logger };

const POLL_MS = 1000;
/** Few enough that a crash costs little and that others get their share. */
const BATCH = 25;

/** Starts due automations until it is closed. Any number of replicas may run it. */
export function startAutomations(
  { db, bus, log }: AutomationsDeps,
  { pollMs = POLL_MS, batch = BATCH }: { pollMs?: number; batch?: number } = {},
): { close(): Promise<void> } {
  /** True when there may be more at once. */
  const runBatch = async (): Promise<boolean> => {
    const { claimed, started } = await runDue(db, batch);
    for (const run of started) {
      publishEvents(bus, log, run.organizationId, run.events);
      sendWake(bus, run.sessionId);
    }
    return claimed === batch;
  };

  const gate = new PollGate({ revision: db.revision, readDueMs: () => readAutomationDueMs(db) });
  const run = { name: 'run automations', periodMs: pollMs, immediately: true, gate, run: runBatch };
  return startPeriodicTasks([run], log);
}
