import { isIPv6 } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { isLoopback } from './client-address.ts';

type Arrival = Pick<FastifyRequest, 'protocol' | 'host' | 'hostname'> & {
  socket: { localAddress?: string | undefined; localPort?: number | undefined };
};

/** The address that the connection came to. */
function ownHost({ localAddress, localPort }: Arrival['socket']): string {
  const address = (localAddress ?? '127.0.0.1').replace(/^::ffff:(?=\d{1,3}\.)/, '');
  return `${isIPv6(address) ? `[${address}]` : address}${localPort === undefined ? '' : `:${localPort}`}`;
}

/**
 * The service's address without a slash at the end: the one configured, else the one that a request came to. A `Host`
 * header counts only if it names this machine: with another one a caller could make addresses that lead elsewhere, and a
 * cache would keep them for others.
 */
export function findBase({ protocol, host, hostname, socket }: Arrival, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl.replace(/(?<!\/)\/+$/, '');
  return `${protocol}://${isLoopback(hostname) ? host : ownHost(socket)}`;
}
