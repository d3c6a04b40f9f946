import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { hasStatus } from '../../src/kubernetes/client.ts';

export type Metrics = {
  registry: Registry;
  onPass: (kind: string, error: unknown, ms: number) => void;
  onWrite: (verb: string, plural: string) => void;
  watchLeading(isLeading: () => boolean): void;
  watchQueues(depths: () => Record<string, number>): void;
};

/** What Prometheus is told of one operator. */
export function openMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const passes = new Histogram({
    name: 'capstan_operator_reconcile_seconds',
    help: 'Passes over one resource.',
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
      help: 'Resources that wait for a pass.',
      labelNames: ['kind'],
      registers: [],
      collect() {
        for (const [kind, depth] of Object.entries(depths())) this.set({ kind }, depth);
      },
    }),
  );
  return {
    registry,
    onPass(kind, error, ms) {
      const result = error === undefined ? 'done' : hasStatus(error, 409) ? 'conflict' : 'error';
      passes.observe({ kind, result }, ms / 1000);
    },
    onWrite: (verb, resource) => writes.inc({ verb, resource }),
    watchLeading(isLeading) {
      leading = isLeading;
    },
    watchQueues(ask) {
      depths = ask;
    },
  };
}
