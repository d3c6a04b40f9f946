import { Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import { eventLoopBlocks } from '../event-loop.ts';

export type HttpMetrics = {
  registry: Registry;
  /** seconds, by `method`, `route` (the pattern) and `status` */
  requests: Histogram<'method' | 'route' | 'status'>;
  /** event streams open now */
  streams: Gauge;
};

/**
 * Between measurements of the event loop's lag, which count it in. The default of 10 ms wakes an idle process a hundred times
 * a second, which is most of what it uses.
 */
const LAG_RESOLUTION_MS = 100;

/** A registry with the process's own metrics, for all roles of the process. */
export function openRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_RESOLUTION_MS });
  registry.registerMetric(eventLoopBlocks);
  return registry;
}

/** Registers the role's metrics. */
export function openMetrics(registry: Registry = openRegistry()): HttpMetrics {
  return {
    registry,
    requests: new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time from the request line to the last byte of the answer, streams left out',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers: [registry],
    }),
    streams: new Gauge({
      name: 'capstan_event_streams',
      help: 'Event streams that are open now',
      registers: [registry],
    }),
  };
}
