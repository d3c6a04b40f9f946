import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { ModelUsage } from '../../inference/model.ts';
import type { TraceExporter } from '../../platform/telemetry/exporter.ts';
import { setSpan } from '../../platform/work-context.ts';

/** The outcome of a call; `asked` and `answered` are names of models. */
type Ended = {
  asked: string;
  answered: string;
  /** `ok`, a fault's code, or `client_gone` */
  outcome: string;
  usage: ModelUsage;
  firstTokenSeconds: number | undefined;
  costUsd: number;
};

export type CallSpan = { end(call: Ended): void };

/** Begins the span of a request, which the requests to providers name as their parent; undefined: nothing is traced. */
export function openCallSpan(
  traces: TraceExporter | undefined,
  { trace, caller }: FastifyRequest,
): CallSpan | undefined {
  if (traces === undefined || trace?.sampled !== true) return undefined;
  const spanId = randomBytes(8).toString('hex');
  const startMs = Date.now();
  setSpan(trace, spanId);
  return {
    end({ asked, answered, outcome, usage, firstTokenSeconds, costUsd }) {
      const failed = outcome !== 'ok';
      const { traceId, parent } = trace;
      const span = {
        traceId,
        spanId,
        sampled: true,
        ...(parent === undefined ? {} : { parentId: parent }),
        name: `chat ${asked}`,
        kind: 'server' as const,
        startMs,
        endMs: Date.now(),
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': answered.split('/', 1)[0] ?? answered,
          'gen_ai.request.model': asked,
          'gen_ai.response.model': answered,
          'gen_ai.usage.input_tokens': usage.input,
          'gen_ai.usage.output_tokens': usage.output,
          'gen_ai.usage.cache_read.input_tokens': usage.cacheRead,
          'gen_ai.usage.cache_creation.input_tokens': usage.cacheWrite,
          'capstan.organization.id': caller?.organizationId ?? '',
          'capstan.cost_usd': costUsd,
          ...(firstTokenSeconds === undefined ? {} : { 'gen_ai.response.time_to_first_chunk': firstTokenSeconds }),
          ...(failed ? { 'error.type': outcome } : {}),
        },
        ...(failed ? { error: `The call failed: ${outcome}.` } : {}),
      };
      traces.export([span]);
    },
  };
}
