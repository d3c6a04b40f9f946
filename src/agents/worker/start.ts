import type { Registry } from 'prom-client';
import { onControl, onServerAnswered, onWake } from '../channels.ts';
import type { Subscription } from '../../platform/bus/bus.ts';
import { openBudgets } from '../../platform/budgets/budgets.ts';
import { errorText } from '../../platform/errors.ts';
import { PollGate } from '../../platform/jobs/poll-gate.ts';
import { startPeriodicTasks } from '../../platform/jobs/periodic-tasks.ts';
import { ensureEventPartitions } from '../store/event-partitions.ts';
import { correctFutureTimes, readDueMs } from '../store/leases.ts';
import { openWorkerMetrics } from './metrics.ts';
import { openRecordMetrics } from './record-metrics.ts';
import { openNoticeQueue } from './notices.ts';
import type { WorkerDeps } from './session.ts';
import { SessionPool } from './session-pool.ts';

export type WorkerOptions = {
  /** sessions that run at the same time */
  concurrency: number;
  /** how long a lease lasts without renewal: after a crash its sessions stand still for this long */
  leaseMs: number;
  /** how long a shutdown waits for running model calls and tool calls */
  drainMs: number;
  /** receives the worker's metrics; absent: there are none */
  registry?: Registry;
};

const POLL_MS = 1000;
const CLOCK_MS = 30_000;
/** Partitions are created two months ahead; once a day would be enough. */
const PARTITIONS_MS = 6 * 3_600_000;

/** Claims due sessions and runs them. Resolves once it is subscribed to wake-ups. `close` drains. */
export async function startWorker(
  ports: Omit<WorkerDeps, 'budgets'>,
  options: WorkerOptions,
): Promise<{ close(): Promise<void> }> {
  const { db, log } = ports;
  const budgets = openBudgets(ports);
  const deps = { ...ports, budgets };
  const { concurrency, leaseMs, registry } = options;
  const pool = new SessionPool(
    deps,
    { concurrency, leaseMs, retryDelayMs: POLL_MS },
    registry && ((counted) => openWorkerMetrics(registry, { db, log, countRunning: () => counted.countRunning() })),
  );
  if (registry !== undefined) openRecordMetrics(registry, ports);
  const notices = openNoticeQueue(deps, registry);
  deps.sandboxes.onNotice((notice) => void notices.push(notice));
  const subscriptions = await subscribe(pool, deps);
  const gate = new PollGate({ revision: db.revision, readDueMs: () => readDueMs(db) });
  const tasks = startPeriodicTasks(
    [
      { name: 'poll for work', periodMs: POLL_MS, immediately: true, gate, run: () => pool.claim() },
      { name: 'renew leases', periodMs: leaseMs / 3, run: () => pool.renew() },
      {
        name: 'correct times in the future',
        periodMs: CLOCK_MS,
        immediately: true,
        run: async () => {
          const sessions = await correctFutureTimes(db, leaseMs);
          if (sessions > 0) log.warn({ sessions }, 'the clock was set back: sessions were due in the future');
        },
      },
      {
        name: 'create partitions',
        periodMs: PARTITIONS_MS,
        run: async () => void (await ensureEventPartitions(db, new Date())),
      },
    ],
    log,
  );

  return {
    async close() {
      for (const subscription of subscriptions) subscription.close();
      await pool.close(options.drainMs);
      await tasks.close();
      await budgets.close();
    },
  };
}

async function subscribe(pool: SessionPool, { bus, log, mcp }: WorkerDeps): Promise<Subscription[]> {
  return [
    await onWake(bus, (sessionId) => pool.wake(sessionId)),
    await onServerAnswered(bus, (server) => mcp.clearFailures(server)),
    await onControl(bus, ({ sessionId, kind }) => {
      if (kind !== 'interrupt') return;
      pool.interrupt(sessionId).catch((error: unknown) => {
        log.warn({ sessionId, error: errorText(error) }, 'interrupt delayed');
      });
    }),
  ];
}
