import type { HttpDeps, HttpPorts } from '../platform/http/deps.ts';
import type { Budgets } from '../platform/budgets/budgets.ts';
import type { TraceExporter } from '../platform/telemetry/exporter.ts';
import type { GatewayInference } from '../inference/inference.ts';
import type { Admission } from './admission.ts';
import type { Hooks } from './hooks/hooks.ts';
import type { ProviderPorts } from './providers/provider-routes.ts';
import type { ResponseCache } from './response-cache.ts';
import type { MeterPorts } from './usage/meter.ts';
import type { CallMetrics } from './usage/metrics.ts';

/** Dependencies of the gateway. */
export type GatewayPorts = HttpPorts & {
  inference: GatewayInference;
  timing?: GatewayTiming;
  /** receives every call, in addition to `/metrics` */
  metrics?: CallMetrics;
  /** where the spans of calls go; absent: nowhere */
  traces?: TraceExporter | undefined;
  /** bytes of active requests; absent: derived from the size of the heap */
  maxBytesInFlight?: number;
  /** absent: organizations cannot add providers */
  providers?: ProviderPorts;
  /** absent: no call is inspected */
  hooks?: Hooks | undefined;
  /** tokens that each key may use per day; absent: unlimited */
  tokensPerDay?: number | undefined;
};

/** Milliseconds. Absent: the defaults. */
export type GatewayTiming = {
  /** silence before a stream gets a keepalive frame */
  keepaliveMs?: number;
  /** how long active calls may continue after the server begins to close */
  drainMs?: number;
};

/** Arguments of every handler. */
export type GatewayDeps = Omit<GatewayPorts, 'metrics'> &
  HttpDeps & {
    admission: Admission;
    responses: ResponseCache;
    budgets: Budgets;
    usage: Omit<MeterPorts, 'inference'>;
  };
