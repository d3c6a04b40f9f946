import { Counter, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { ModelUsage } from '../../inference/model.ts';

/** The metrics of one finished call: numbers and names, never content. */
export type CallRecord = {
  /** of the client */
  format: string;
  provider: string;
  /** unlisted names share a label */
  requestModel: string;
  responseModel: string;
  /** `ok`, a fault's code, or `client_gone` */
  outcome: string;
  seconds: number;
  /** of streams that have sent their first part */
  firstTokenSeconds: number | undefined;
  usage: ModelUsage;
  costUsd: number;
};

export type CallMetrics = { record(call: CallRecord): void };

const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** Boundaries from the semantic conventions. */
export const TOKEN_SECONDS = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];

/** Seconds between two tokens of a stream; undefined if there are fewer than two. */
export function findTokenSeconds({ seconds, firstTokenSeconds, usage }: CallRecord): number | undefined {
  if (firstTokenSeconds === undefined || usage.output < 2) return undefined;
  return (seconds - firstTokenSeconds) / (usage.output - 1);
}

/** The Prometheus metrics. Names follow the semantic conventions for generative AI where they define one. */
export function openGatewayMetrics(registry: Registry): CallMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: 'capstan_gateway_requests_total',
    help: 'Completion requests, by client format, model and outcome',
    labelNames: ['format', 'model', 'outcome'],
    registers,
  });
  const tokens = new Counter({
    name: 'gen_ai_client_token_usage_total',
    help: 'Tokens, by model and kind',
    labelNames: ['model', 'type'],
    registers,
  });
  const cost = new Counter({
    name: 'capstan_gateway_cost_usd_total',
    help: 'US dollars by the prices of the configuration',
    labelNames: ['model'],
    registers,
  });
  const buildHistogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name, help, labelNames: ['model'], buckets, registers });
  const duration = buildHistogram(
    'gen_ai_server_request_duration_seconds',
    'Time from the request to the end of the response',
    SECONDS,
  );
  const firstToken = buildHistogram(
    'gen_ai_server_time_to_first_token_seconds',
    'Time from the request to the first token of a streamed response',
    SECONDS,
  );
  const perToken = buildHistogram(
    'gen_ai_server_time_per_output_token_seconds',
    'Mean time between tokens of a streamed response',
    TOKEN_SECONDS,
  );

  return {
    record(call) {
      const { format, requestModel, responseModel: model, outcome, usage } = call;
      requests.inc({ format, model, outcome });
      duration.observe({ model }, call.seconds);
      // Also adds 0: a series that begins at zero shows its first increase.
      tokens.inc({ model, type: 'input' }, usage.input);
      tokens.inc({ model, type: 'output' }, usage.output);
      tokens.inc({ model, type: 'cached_input' }, usage.cacheRead);
      cost.inc({ model }, call.costUsd);
      if (call.firstTokenSeconds !== undefined) firstToken.observe({ model: requestModel }, call.firstTokenSeconds);
      const between = findTokenSeconds(call);
      if (between !== undefined) perToken.observe({ model }, between);
    },
  };
}
