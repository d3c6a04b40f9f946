import type { IncomingMessage } from 'node:http';
import type { ExecutorNotice } from '../protocol/executor.ts';
import { SandboxError } from '../sandbox.ts';
import { readExecutorNotice } from './frames.ts';
import { readLines } from './http.ts';

/** An executor sends short notices, at most 15 in 10 seconds beside the ends of 64 processes, and heartbeats. */
const MAX_LINE_LENGTH = 64 * 1024;
const MAX_LINES = 600;
const WINDOW_MS = 60_000;

/**
 * Passes each notice of the stream to `handler` until the stream ends. Throws `SandboxError` for a line over 64 KiB or
 * more than 600 lines a minute, which an uncompromised executor never sends.
 */
export async function readNotices(response: IncomingMessage, handler: (notice: ExecutorNotice) => void): Promise<void> {
  let begunMs = Date.now();
  let lines = 0;
  for await (const line of readLines(response, MAX_LINE_LENGTH)) {
    if (Date.now() - begunMs > WINDOW_MS) {
      begunMs = Date.now();
      lines = 0;
    }
    lines += 1;
    if (lines > MAX_LINES) throw new SandboxError('the sandbox sent too many notices');
    const notice = readExecutorNotice(line);
    if (notice !== undefined) handler(notice);
  }
}
