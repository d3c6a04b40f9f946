import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './runtime/metrics.ts';

/** Only probes and Prometheus connect. */
const MAX_CONNECTIONS = 256;
const HEADERS_TIMEOUT_MS = 20_000;

/** Serves `/livez`, `/readyz` (200 while the API server responds) and `/metrics`. */
export async function startHealth(
  options: { host: string; port: number },
  services: { metrics: Metrics; isReady: () => Promise<boolean> },
): Promise<{ address: string; close(): Promise<void> }> {
  const server = createServer({ headersTimeout: HEADERS_TIMEOUT_MS }, (request, response) => {
    const respond = async (): Promise<[number, string, string]> => {
      switch (new URL(request.url ?? '/', 'http://operator').pathname) {
        case '/livez':
          return [200, 'application/json', '{"status":"ok"}'];
        case '/readyz': {
          const isReady = await services.isReady();
          return [
            isReady ? 200 : 503,
            'application/json',
            JSON.stringify({ kubernetes: isReady ? 'ok' : 'unreachable' }),
          ];
        }
        case '/metrics':
          return [200, services.metrics.registry.contentType, await services.metrics.registry.metrics()];
        default:
          return [404, 'application/json', '{"error":"not_found","message":"No such path."}'];
      }
    };
    respond().then(
      ([status, type, text]) => response.writeHead(status, { 'content-type': type }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
