import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { StartupError, errorText } from '../errors.ts';

export type ListenOptions = {
  host: string;
  /** 0 picks a free one */
  port: number;
};

/**
 * Serves until closed. Closing takes no new requests, ends streams and waits for what is under way. Throws
 * `StartupError` when the address cannot be had.
 */
export async function startHttp(
  app: FastifyInstance,
  { host, port }: ListenOptions,
): Promise<{ address: string; port: number; close(): Promise<void> }> {
  const address = await app.listen({ host, port }).catch(async (error: unknown) => {
    await app.close();
    if (error instanceof StartupError) throw error;
    throw new StartupError(`The server cannot listen on ${host}:${port}: ${errorText(error)}`);
  });
  return { address, port: (app.server.address() as AddressInfo).port, close: () => app.close() };
}
