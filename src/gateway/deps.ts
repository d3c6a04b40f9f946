import type { HttpDeps, HttpPorts } from '../http/deps.ts';
import type { GatewayInference } from '../inference/inference.ts';

/** What the role is given from outside. */
export type GatewayPorts = HttpPorts & { inference: GatewayInference };

/** What every handler gets. */
export type GatewayDeps = GatewayPorts & HttpDeps;
