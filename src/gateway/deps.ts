import type { HttpDeps, HttpPorts } from '../platform/http/deps.ts';
import type { GatewayInference } from '../inference/inference.ts';
import type { Admission } from './admission.ts';
import type { MeterPorts } from './usage/meter.ts';
import type { CallMetrics } from './usage/metrics.ts';

/** What the role is given from outside. */
export type GatewayPorts = HttpPorts & {
  inference: GatewayInference;
  timing?: GatewayTiming;
  /** told of every call, beside what `/metrics` shows */
  metrics?: CallMetrics;
  /** bytes of requests under way; absent: by the size of the heap */
  maxBytesInFlight?: number;
  /** tokens that each key may use in a day; absent: any number */
  tokensPerDay?: number | undefined;
};

/** Milliseconds. Absent: the defaults. */
export type GatewayTiming = {
  /** of silence, until a stream gets a frame that means nothing */
  keepaliveMs?: number;
  /** that calls under way may go on once the server begins to close */
  drainMs?: number;
};

/** What every handler gets. */
export type GatewayDeps = Omit<GatewayPorts, 'metrics'> &
  HttpDeps & {
    admission: Admission;
    usage: Omit<MeterPorts, 'inference'>;
  };
