// Tests: test/platform/http/drain.test.ts
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Bodies up to this size are received to their end, although the request was refused. */
const MAX_DRAINED = 64 * 1024 * 1024;

/**
 * Lets a client read that its body is too large. The framework ends the connection with that response; a client that is
 * still sending then sees a broken connection instead. Larger bodies end the connection.
 */
export function drainRefused({ headers, raw }: FastifyRequest, reply: FastifyReply): void {
  if (reply.statusCode !== 413 || Number(headers['content-length'] ?? 0) > MAX_DRAINED) return;
  void reply.removeHeader('connection');
  let left = MAX_DRAINED;
  raw.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) raw.destroy();
  });
}
