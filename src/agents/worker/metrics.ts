import { Counter, Gauge } from 'prom-client';
import type { Registry } from 'prom-client';
import type { Db } from '../../platform/db/db.ts';
import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import { measureBacklog } from '../store/leases.ts';

export type WorkerMetrics = {
  /** A session was released: its work `done`, `failed` (retried), or `lost` to another worker or a shutdown. */
  onEnd(result: 'done' | 'failed' | 'lost'): void;
};

/** The Prometheus metrics of one worker. The backlog covers the whole installation, whichever worker reports it. */
export function openWorkerMetrics(
  registry: Registry,
  { db, log, countRunning }: { db: Db; log: Logger; countRunning: () => number },
): WorkerMetrics {
  const registers = [registry];
  const ends = new Counter({
    name: 'capstan_worker_passes_total',
    help: 'Sessions that were claimed and let go again, by how that ended.',
    labelNames: ['result'],
    registers,
  });
  for (const result of ['done', 'failed', 'lost']) ends.inc({ result }, 0);
  registry.registerMetric(
    new Gauge({
      name: 'capstan_worker_sessions',
      help: 'Sessions that this worker is at work on.',
      registers: [],
      collect() {
        this.set(countRunning());
      },
    }),
  );
  const oldest = new Gauge({
    name: 'capstan_backlog_oldest_seconds',
    help: 'For how long the session that waits longest for a worker has waited.',
    registers,
  });
  registry.registerMetric(
    new Gauge({
      name: 'capstan_backlog_sessions',
      help: 'Sessions that have something to do and no worker.',
      registers: [],
      async collect() {
        try {
          const { sessions, oldestSeconds } = await measureBacklog(db);
          this.set(sessions);
          oldest.set(oldestSeconds);
        } catch (error) {
          // The rest is worth telling without it.
          log.warn({ error: errorText(error) }, 'the backlog could not be measured');
          this.remove();
          oldest.remove();
        }
      },
    }),
  );
  return { onEnd: (result) => ends.inc({ result }) };
}
