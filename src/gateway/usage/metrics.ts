import { Counter, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** Names follow the semantic conventions for generative AI where those have one. Labels hold no content. */
export function openGatewayMetrics(registry: Registry) {
  const registers = [registry];
  return {
    requests: new Counter({
      name: 'capstan_gateway_requests_total',
      help: 'Requests for a text, by the format of the client, the model, and how they ended',
      labelNames: ['format', 'model', 'outcome'],
      registers,
    }),
    tokens: new Counter({
      name: 'gen_ai_client_token_usage_total',
      help: 'Tokens, by model and kind',
      labelNames: ['model', 'type'],
      registers,
    }),
    cost: new Counter({
      name: 'capstan_gateway_cost_usd_total',
      help: 'US dollars by the prices of the configuration',
      labelNames: ['model'],
      registers,
    }),
    duration: new Histogram({
      name: 'gen_ai_server_request_duration_seconds',
      help: 'Time from the request to the end of its answer',
      labelNames: ['model'],
      buckets: SECONDS,
      registers,
    }),
    firstToken: new Histogram({
      name: 'gen_ai_server_time_to_first_token_seconds',
      help: 'Time from the request to the first part of a streamed answer',
      labelNames: ['model'],
      buckets: SECONDS,
      registers,
    }),
  };
}

export type GatewayMetrics = ReturnType<typeof openGatewayMetrics>;
