import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { PollGate } from './poll-gate.ts';
import { startWork } from '../work-context.ts';

export type PeriodicTask = {
  /** for the log: `could not <name>` */
  name: string;
  /** between the end of a run and the start of the next one, more or less a fifth */
  periodMs: number;
  /** Returns true when there is more to do at once. What it throws is logged, and the next run comes as usual. */
  run(): Promise<boolean | void> | boolean | void;
  /** the first run starts now instead of after a period */
  immediately?: boolean;
  /** decides which runs are skipped */
  gate?: PollGate;
};

/** A duration that varies by a fifth either way, so that replicas do not act in step. */
export function jitter(ms: number): number {
  return ms * (0.8 + Math.random() * 0.4);
}

/**
 * Until the next run. Tasks of one process, which have no replicas, run at the same moments, so that they wake an idle
 * process once.
 */
function planNext({ periodMs, gate }: PeriodicTask): number {
  return gate?.isActive === true ? periodMs - (performance.now() % periodMs) : jitter(periodMs);
}

async function runOnce({ gate, ...task }: PeriodicTask, log: Logger): Promise<boolean> {
  try {
    return (await (gate === undefined ? task.run() : gate.poll(() => task.run()))) === true;
  } catch (error) {
    log.warn({ error: errorText(error) }, `could not ${task.name}`);
    return false;
  }
}

async function runTask(task: PeriodicTask, log: Logger, signal: AbortSignal): Promise<void> {
  let isDue = task.immediately === true;
  while (!signal.aborted) {
    if (!isDue) await sleep(planNext(task), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    isDue = await startWork({ job: task.name }, () => runOnce(task, log));
  }
}

/** Runs every task again and again, each by itself. `close` waits for the runs in progress. */
export function startPeriodicTasks(tasks: readonly PeriodicTask[], log: Logger): { close(): Promise<void> } {
  const stop = new AbortController();
  const loops = tasks.map((task) => runTask(task, log, stop.signal));
  return {
    async close() {
      stop.abort();
      await Promise.all(loops);
    },
  };
}
