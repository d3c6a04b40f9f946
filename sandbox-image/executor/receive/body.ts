import type { IncomingMessage } from 'node:http';
import { ExecutorError } from '../executor-error.ts';

/** The body of a call, without file contents. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new ExecutorError('input', 'ETOOBIG', 'the call is too big');
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    throw new ExecutorError('input', 'EINVAL', 'the call is not JSON');
  }
}
