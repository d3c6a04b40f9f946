import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { z } from 'zod';
import type { SpanRecord } from '../trace-context.ts';
import { buildResource, toReadable } from './readable.ts';

const Encoded = z.object({ resourceSpans: z.array(z.record(z.string(), z.unknown())).default([]) });

/** Spans as the JSON encoding of OTLP, which collectors and viewers take. */
export function encodeSpans(spans: readonly SpanRecord[], serviceName: string): z.infer<typeof Encoded> {
  const resource = buildResource(serviceName);
  const bytes = JsonTraceSerializer.serializeRequest(spans.map((span) => toReadable(span, resource)));
  return Encoded.parse(bytes === undefined ? {} : JSON.parse(Buffer.from(bytes).toString('utf8')));
}
