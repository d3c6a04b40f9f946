import type { FastifyRequest } from 'fastify';

/** The service's address without a slash at the end: the one configured, else the one that a request came to. */
export function findBase({ protocol, host }: FastifyRequest, publicUrl: string | undefined): string {
  return (publicUrl ?? `${protocol}://${host}`).replace(/(?<!\/)\/+$/, '');
}
