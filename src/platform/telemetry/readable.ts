import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import type { HrTime, SpanContext } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { VERSION } from '../contract/version.ts';
import type { SpanRecord } from '../trace-context.ts';

/** Semantic conventions for generative AI, repository semantic-conventions-genai, at this commit. */
export const SEMANTIC_CONVENTIONS = '55a32cddb97d99cec08d5ee081e74206a0636041';

const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER };
const SCOPE = {
  name: 'capstan',
  version: VERSION,
  schemaUrl: `https://github.com/open-telemetry/semantic-conventions-genai/tree/${SEMANTIC_CONVENTIONS}`,
};

function toTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1_000_000)];
}

export function buildResource(serviceName: string): Resource {
  return resourceFromAttributes({ 'service.name': serviceName, 'service.version': VERSION });
}

/** A span as the exporters of the SDK take it. */
export function toReadable(span: SpanRecord, resource: Resource): ReadableSpan {
  const { traceId, spanId, parentId, sampled, error } = span;
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  const context = (id: string): SpanContext => ({ traceId, spanId: id, traceFlags });
  const endMs = Math.max(span.startMs, span.endMs);
  return {
    name: span.name,
    kind: KINDS[span.kind],
    spanContext: () => context(spanId),
    ...(parentId === undefined ? {} : { parentSpanContext: context(parentId) }),
    startTime: toTime(span.startMs),
    endTime: toTime(endMs),
    duration: toTime(endMs - span.startMs),
    status: error === undefined ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: error },
    attributes: span.attributes,
    links: (span.links ?? []).map((link) => ({ context: { ...link, traceFlags } })),
    events: [],
    ended: true,
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}
