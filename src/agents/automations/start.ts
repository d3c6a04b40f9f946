import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus } from '../../platform/bus/bus.ts';
import { publishEvents, sendWake } from '../channels.ts';
import type { Db } from '../../platform/db/db.ts';
import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import { runDue } from './run-due.ts';

export type AutomationsDeps = { db: Db; bus: Bus; log: Logger };

const POLL_MS = 1000;
/** Few enough that a crash costs little and that others get their share. */
const BATCH = 25;

/** Looks for automations whose time has come, for as long as it is open. Any number of replicas may do so. */
export function startAutomations(
  { db, bus, log }: AutomationsDeps,
  { pollMs = POLL_MS, batch = BATCH }: { pollMs?: number; batch?: number } = {},
): { close(): Promise<void> } {
  const stop = new AbortController();

  /** True when there may be more at once. */
  const runBatch = async (): Promise<boolean> => {
    const { claimed, started } = await runDue(db, batch);
    for (const run of started) {
      publishEvents(bus, log, run.organizationId, run.events);
      sendWake(bus, run.sessionId);
    }
    return claimed === batch;
  };

  const loop = async () => {
    while (!stop.signal.aborted) {
      const more = await runBatch().catch((error: unknown) => {
        log.warn({ error: errorText(error) }, 'could not run automations');
        return false;
      });
      const pause = pollMs * (0.8 + Math.random() * 0.4);
      if (!more) await sleep(pause, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  };
  const looping = loop();

  return {
    async close() {
      stop.abort();
      await looping;
    },
  };
}
