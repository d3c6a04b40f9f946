import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { hasStatus } from '../../src/platform/kubernetes/client.ts';
import { registerResourceGauges } from './resource-gauges.ts';
import type { ReadResources } from './resource-gauges.ts';

export type Metrics = {
  registry: Registry;
  onReconcile: (kind: string, error: unknown, ms: number) => void;
  onWrite: (verb: string, plural: string) => void;
  watchLeading(isLeading: () => boolean): void;
  watchQueues(depths: () => Record<string, number>): void;
  /** The content of the leader's caches; empty after its term has ended. */
  watchResources(read: ReadResources): void;
  /** A session's pod became ready, this long after it was requested. */
  onSessionReady(ms: number): void;
  /** A new volume took a pod of the class's warm pool, or found none. */
  onWarmTake(className: string, result: 'warm' | 'cold'): void;
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
  let resources: ReadResources = () => ({ sessions: [], volumes: [], classes: [] });
  const takes = new Counter({
    name: 'capstan_operator_warm_takes_total',
    help: 'New volumes of a class with a warm pool, by result: warm (took a pod) or cold (found none that is ready).',
    labelNames: ['class', 'result'],
    registers,
  });
  registerResourceGauges(registry, () => resources());
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
    watchResources(read) {
      resources = read;
    },
    onWarmTake: (className, result) => takes.inc({ class: className, result }),
    onSessionReady: (ms) => starts.observe(Math.max(0, ms) / 1000),
  };
}
