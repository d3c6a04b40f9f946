import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { VERSION } from '../../platform/contract/version.ts';
import { TOKEN_SECONDS, findTokenSeconds } from './metrics.ts';
import type { CallMetrics } from './metrics.ts';

export type OtelOptions = {
  /** URL of the collector, such as `https://collector:4318/v1/metrics` */
  url: string;
  /** interval between two exports, milliseconds */
  intervalMs: number;
  serviceName: string;
};

// Boundaries from the semantic conventions for generative AI.
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);
const DURATION = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power);
const FIRST_TOKEN = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/**
 * Exports the metrics of the semantic conventions for generative AI by OTLP over HTTP. Headers, certificates and timeouts
 * come from the exporter's own environment variables (`OTEL_EXPORTER_OTLP_HEADERS` and so on).
 */
export function openOtelMetrics({
  url,
  intervalMs,
  serviceName,
}: OtelOptions): CallMetrics & { close(): Promise<void> } {
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter({ url }),
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: Math.min(intervalMs, 30_000),
  });
  const resource = resourceFromAttributes({ 'service.name': serviceName, 'service.version': VERSION });
  const provider = new MeterProvider({ readers: [reader], resource });
  const meter = provider.getMeter('capstan.gateway', VERSION);
  const openHistogram = (name: string, unit: string, description: string, explicitBucketBoundaries: number[]) =>
    meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries } });
  const tokens = openHistogram('gen_ai.client.token.usage', '{token}', 'Tokens of a call', TOKENS);
  const operation = openHistogram('gen_ai.client.operation.duration', 's', 'Duration of a call', DURATION);
  const duration = openHistogram('gen_ai.server.request.duration', 's', 'From the request to its end', DURATION);
  const first = openHistogram('gen_ai.server.time_to_first_token', 's', 'To the first part of a stream', FIRST_TOKEN);
  const perToken = openHistogram(
    'gen_ai.server.time_per_output_token',
    's',
    'Between tokens of a stream',
    TOKEN_SECONDS,
  );

  return {
    record(call) {
      const { usage, outcome, firstTokenSeconds } = call;
      const names = {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': call.provider,
        'gen_ai.request.model': call.requestModel,
        'gen_ai.response.model': call.responseModel,
      };
      const ended = outcome === 'ok' ? names : { ...names, 'error.type': outcome };
      operation.record(call.seconds, ended);
      duration.record(call.seconds, ended);
      if (usage.input > 0) tokens.record(usage.input, { ...names, 'gen_ai.token.type': 'input' });
      if (usage.output > 0) tokens.record(usage.output, { ...names, 'gen_ai.token.type': 'output' });
      if (firstTokenSeconds !== undefined) first.record(firstTokenSeconds, names);
      const between = findTokenSeconds(call);
      if (between !== undefined) perToken.record(between, names);
    },
    /** Exports pending metrics. */
    close: () => provider.shutdown(),
  };
}
