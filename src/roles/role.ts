import { startHttp } from '../platform/http/start.ts';
import { OidcProvider } from '../platform/http/oidc/provider.ts';
import type { HttpServer, ServerOptions } from '../platform/http/server.ts';
import type { Backends } from './backends/all.ts';
import type { BareContext } from './context.ts';

/** `B`: what the role has of backends. */
export type RoleContext<B = Backends> = BareContext & {
  backends: B;
  /** what the role serves on, from the moment it does; with port 0 nobody knows it before */
  address?: string;
};

/** What a role serves, for the line that is printed at start. */
export type Started = { address?: string };

/** How long clients of a role that others replace may use their connections after SIGTERM. */
const LINGER_MS = 3000;

/** How long turns and renders may continue when a role is stopped; another process continues them. */
export const DRAIN_MS = 20_000;
/** What is left of the time for closing when calls that nobody else can continue are ended with an error. */
const LAST_MS = 2000;

/** How long model calls and website logins may continue when a role is stopped: nobody else can continue them. */
export function readCallDrainMs({ config }: BareContext): number {
  return config.shutdownMs - LAST_MS;
}

export function readServerOptions({ config }: BareContext): ServerOptions {
  const { corsOrigins, bounds, host, metricsPort: port, trustedProxies, video, oidc } = config;
  const { publicUrl } = video;
  return {
    corsOrigins,
    bounds,
    publicUrl,
    trustedProxies,
    lingerMs: LINGER_MS,
    printAudit: config.file.audit.print,
    ...(oidc === undefined ? {} : { oidc: new OidcProvider(oidc.config, oidc.clientSecret) }),
    ...(port === undefined ? {} : { metricsServer: { host, port } }),
  };
}

export async function serve(context: RoleContext<unknown>, name: string, app: HttpServer): Promise<Started> {
  const { host, port } = context.config;
  const server = context.lifecycle.use(name, await startHttp(app, { host, port }));
  context.address = server.address;
  return { address: server.address };
}
