import type { AddressInfo } from 'node:net';
import { StartupError, errorText } from '../errors.ts';
import type { ApiPorts } from './deps.ts';
import { buildServer } from './server.ts';
import type { ServerOptions } from './server.ts';

export type ApiOptions = ServerOptions & {
  host: string;
  /** 0 picks a free one */
  port: number;
};

/**
 * Serves the API until closed. Closing takes no new requests, ends streams and waits for what is under way. Throws
 * `StartupError` when the address cannot be had.
 */
export async function startApi(
  ports: ApiPorts,
  options: ApiOptions,
): Promise<{ address: string; port: number; close(): Promise<void> }> {
  const app = buildServer(ports, options);
  const { host, port } = options;
  const address = await app.listen({ host, port }).catch(async (error: unknown) => {
    await app.close();
    throw new StartupError(`The API cannot listen on ${host}:${port}: ${errorText(error)}`);
  });
  return { address, port: (app.server.address() as AddressInfo).port, close: () => app.close() };
}
