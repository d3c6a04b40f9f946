import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { hasStatus } from '../../src/platform/kubernetes/client.ts';
import type { Session } from '../../src/sandbox/resources/session.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import { isLossOpen } from '../volume/loss.ts';

export type Metrics = {
  registry: Registry;
  onReconcile: (kind: string, error: unknown, ms: number) => void;
  onWrite: (verb: string, plural: string) => void;
  watchLeading(isLeading: () => boolean): void;
  watchQueues(depths: () => Record<string, number>): void;
  /** The content of the leader's caches; empty after its term has ended. */
  watchResources(list: () => Resources): void;
  /** A session's pod became ready, this long after it was requested. */
  onSessionReady(ms: number): void;
};

type Resources = {
  sessions: readonly Pick<Session, 'status'>[];
  volumes: readonly Pick<Volume, 'metadata' | 'status'>[];
};

/** The Prometheus metrics of one operator. */
export function openMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const reconciles = new Histogram({
    name: 'capstan_operator_reconcile_seconds',
    help: 'Duration of reconciling one resource, in seconds.',
    labelNames: ['kind', 'result'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers,
  });
  const writes = new Counter({
    name: 'capstan_operator_writes_total',
    help: 'Writes to the API server.',
    labelNames: ['verb', 'resource'],
    registers,
  });
  const starts = new Histogram({
    name: 'capstan_operator_session_start_seconds',
    help: 'Time from the request for a pod until it is ready, in seconds.',
    buckets: [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120],
    registers,
  });
  let resources = (): Resources => ({ sessions: [], volumes: [] });
  for (const kind of ['sessions', 'volumes'] as const) {
    registry.registerMetric(
      new Gauge({
        name: `capstan_operator_${kind}`,
        help: `Number of ${kind} that the leader manages, by phase and by reason of the condition Ready.`,
        labelNames: ['phase', 'reason'],
        registers: [],
        collect() {
          this.reset();
          // Counted first: setting a gauge is much slower, and there are thousands of resources.
          const counts = new Map<string, number>();
          for (const { status } of resources()[kind]) {
            const reason = status?.conditions?.find(({ type }) => type === 'Ready')?.reason ?? 'Unknown';
            const key = `${status?.phase ?? 'Unknown'}/${reason}`;
            counts.set(key, (counts.get(key) ?? 0) + 1);
          }
          for (const [key, count] of counts) {
            const [phase = '', reason = ''] = key.split('/');
            this.set({ phase, reason }, count);
          }
        },
      }),
    );
  }
  registry.registerMetric(
    new Gauge({
      name: 'capstan_operator_volumes_files_lost',
      help: 'Number of volumes that have lost their files without confirmation.',
      registers: [],
      collect() {
        this.set(resources().volumes.filter(isLossOpen).length);
      },
    }),
  );
  let leading = (): boolean => false;
  let depths = (): Record<string, number> => ({});
  registry.registerMetric(
    new Gauge({
      name: 'capstan_operator_leading',
      help: '1 while this process leads.',
      registers: [],
      collect() {
        this.set(leading() ? 1 : 0);
      },
    }),
  );
  registry.registerMetric(
    new Gauge({
      name: 'capstan_operator_queue_depth',
      help: 'Number of resources waiting to be reconciled.',
      labelNames: ['kind'],
      registers: [],
      collect() {
        for (const [kind, depth] of Object.entries(depths())) this.set({ kind }, depth);
      },
    }),
  );
  return {
    registry,
    onReconcile(kind, error, ms) {
      const result = error === undefined ? 'done' : hasStatus(error, 409) ? 'conflict' : 'error';
      reconciles.observe({ kind, result }, ms / 1000);
    },
    onWrite: (verb, resource) => writes.inc({ verb, resource }),
    watchLeading(isLeading) {
      leading = isLeading;
    },
    watchQueues(read) {
      depths = read;
    },
    watchResources(list) {
      resources = list;
    },
    onSessionReady: (ms) => starts.observe(Math.max(0, ms) / 1000),
  };
}
