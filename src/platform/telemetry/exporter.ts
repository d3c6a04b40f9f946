// Tests: test/flow/traces.test.ts
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import type { SpanRecord } from '../trace-context.ts';
import { buildResource, toReadable } from './readable.ts';

export type TraceOptions = {
  /** URL of the collector, such as `https://collector:4318/v1/traces` */
  url: string;
  serviceName: string;
};

/** Where finished spans go. Spans of traces that their caller does not sample are dropped. */
export type TraceExporter = {
  export(spans: readonly SpanRecord[]): void;
  /** Sends what is pending. */
  close(): Promise<void>;
};

/** Spans that wait for the next export; a burst beyond it loses the rest. */
const MAX_QUEUE = 65_536;
const DELAY_MS = 1000;

/** Exports spans by OTLP over HTTP. Headers, certificates and timeouts come from the exporter's own `OTEL_…` variables. */
export function openTraceExporter({ url, serviceName }: TraceOptions): TraceExporter {
  const processor = new BatchSpanProcessor({
    exporter: new OTLPTraceExporter({ url }),
    maxQueueSize: MAX_QUEUE,
    scheduledDelayMillis: DELAY_MS,
  });
  const resource = buildResource(serviceName);
  return {
    export(spans) {
      for (const span of spans) processor.onEnd(toReadable(span, resource));
    },
    close: () => processor.shutdown(),
  };
}
