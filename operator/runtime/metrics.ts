import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { hasStatus } from '../../src/platform/kubernetes/client.ts';

export type Metrics = {
  registry: Registry;
  onPass: (kind: string, error: unknown, ms: number) => void;
  onWrite: (verb: string, plural: string) => void;
  watchLeading(isLeading: () => boolean): void;
  watchQueues(depths: () => Record<string, number>): void;
  /** What the leader's caches hold; nothing from the end of its term on. */
  watchResources(list: () => Resources): void;
  /** A session's pod takes calls, so long after somebody wanted it. */
  onStart(ms: number): void;
};

type Phased = { status?: { phase?: string; conditions?: { type: string; reason: string }[] } };
type Resources = { sessions: Phased[]; volumes: Phased[] };

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
  const starts = new Histogram({
    name: 'capstan_operator_session_start_seconds',
    help: 'From the wish for a pod to a pod that takes calls.',
    buckets: [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120],
    registers,
  });
  let resources = (): Resources => ({ sessions: [], volumes: [] });
  for (const kind of ['sessions', 'volumes'] as const) {
    registry.registerMetric(
      new Gauge({
        name: `capstan_operator_${kind}`,
        help: `What the leader keeps: ${kind} by phase and by the reason of their condition Ready.`,
        labelNames: ['phase', 'reason'],
        registers: [],
        collect() {
          this.reset();
          // Counted first: to set a gauge takes many times as long, and there are thousands of resources.
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
    watchResources(list) {
      resources = list;
    },
    onStart: (ms) => starts.observe(Math.max(0, ms) / 1000),
  };
}
