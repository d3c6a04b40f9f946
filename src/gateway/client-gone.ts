import type { ServerResponse } from 'node:http';
import { CapstanError } from '../platform/errors.ts';
import type { CauseOptions } from '../platform/errors.ts';
import { GatewayError } from './gateway-error.ts';

/** The client closed its connection before the response was complete. */
export class ClientGoneError extends CapstanError<'client_gone'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('client_gone', message, options);
  }
}

/** How long active calls may continue once the server begins to close. */
export const DRAIN_MS = 25_000;

/**
 * Aborts when the client disconnects before the response is complete, and `drainMs` after the server begins to close.
 * `release` stops watching.
 */
export function watchClient(
  response: ServerResponse,
  closing: AbortSignal,
  drainMs = DRAIN_MS,
): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  let drain: NodeJS.Timeout | undefined;
  const onClose = (): void => {
    if (!response.writableFinished) controller.abort(new ClientGoneError('The client closed the connection.'));
  };
  const onClosing = (): void => {
    const reason = new GatewayError('unavailable', 'The server is shutting down.', { retryAfterMs: 1000 });
    drain = setTimeout(() => controller.abort(reason), drainMs);
  };
  response.once('close', onClose);
  if (response.destroyed) onClose();
  if (closing.aborted) onClosing();
  else closing.addEventListener('abort', onClosing, { once: true });
  return {
    signal: controller.signal,
    release() {
      clearTimeout(drain);
      response.off('close', onClose);
      closing.removeEventListener('abort', onClosing);
    },
  };
}
