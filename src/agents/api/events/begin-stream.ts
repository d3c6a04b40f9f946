import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EventDeps } from '../deps.ts';
import { STREAM_HEADERS } from './stream/frame.ts';

/**
 * Sends the headers of a stream and calls `leave` once when its client disconnects. False if the client has already
 * disconnected: nothing may be written then.
 */
export function beginStream(
  { metrics }: Pick<EventDeps, 'metrics'>,
  request: FastifyRequest,
  reply: FastifyReply,
  leave: () => void,
): boolean {
  const response: ServerResponse = reply.raw;
  reply.headers(STREAM_HEADERS).hijack();
  if (response.destroyed || request.socket.destroyed) {
    leave();
    return false;
  }
  metrics.streams.inc();
  response.once('close', () => {
    leave();
    metrics.streams.dec();
  });
  // A connection that carried a stream is not reused, so that a closing server need not wait for it.
  response.shouldKeepAlive = false;
  response.writeHead(200, reply.getHeaders() as Record<string, string>);
  return true;
}
