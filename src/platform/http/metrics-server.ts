import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import { StartupError, errorText } from '../errors.ts';
import type { HttpDeps, HttpPorts } from './deps.ts';
import { registerHealth } from './health.ts';
import type { ListenOptions } from './start.ts';

/** Only probes and Prometheus connect. */
const MAX_CONNECTIONS = 256;
const HEADERS_TIMEOUT_MS = 20_000;

/**
 * Serves health with all details and metrics on a port of their own. Throws `StartupError` when the address cannot be had.
 */
export async function startMetricsServer(
  ports: HttpPorts,
  deps: Pick<HttpDeps, 'metrics' | 'closing'>,
  { host, port }: ListenOptions,
): Promise<{ port: number; close(): Promise<void> }> {
  const app = fastify({ logger: false, http: { headersTimeout: HEADERS_TIMEOUT_MS }, forceCloseConnections: true });
  app.server.maxConnections = MAX_CONNECTIONS;
  registerHealth(app, ports, deps, 'all');
  try {
    await app.listen({ host, port });
  } catch (error) {
    await app.close();
    throw new StartupError(`Metrics cannot be served on ${host}:${port}: ${errorText(error)}`);
  }
  return { port: (app.server.address() as AddressInfo).port, close: () => app.close() };
}
