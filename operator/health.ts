import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './runtime/metrics.ts';

/** `/livez`, `/readyz` (200 once the API server has answered) and `/metrics`. */
export async function startHealth(
  options: { host: string; port: number },
  parts: { metrics: Metrics; isReady: () => Promise<boolean> },
): Promise<{ address: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const answer = async (): Promise<[number, string, string]> => {
      switch (new URL(request.url ?? '/', 'http://operator').pathname) {
        case '/livez':
          return [200, 'application/json', '{"status":"ok"}'];
        case '/readyz': {
          const isReady = await parts.isReady();
          return [
            isReady ? 200 : 503,
            'application/json',
            JSON.stringify({ kubernetes: isReady ? 'ok' : 'unreachable' }),
          ];
        }
        case '/metrics':
          return [200, parts.metrics.registry.contentType, await parts.metrics.registry.metrics()];
        default:
          return [404, 'application/json', '{"error":"not_found","message":"No such path."}'];
      }
    };
    answer().then(
      ([status, type, text]) => response.writeHead(status, { 'content-type': type }).end(text),
      () => response.writeHead(500).end(),
    );
  });
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
