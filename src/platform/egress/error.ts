import { CapstanError } from '../errors.ts';

export type EgressErrorCode =
  /** the URL is none that may be asked: protocol, credentials inside */
  | 'bad_url'
  /** the address is not public and no setting opens it */
  | 'refused'
  | 'too_many_redirects'
  | 'too_large'
  | 'timeout'
  /** no such name, connection refused, broken off, TLS trouble */
  | 'unreachable';

/** Why a request that a caller steered did not work out. The message names host and port, never more of the URL. */
export class EgressError extends CapstanError<EgressErrorCode> {
  constructor(code: EgressErrorCode, message: string, cause?: unknown) {
    super(code, message, { cause, retryable: code === 'timeout' || code === 'unreachable' });
  }
}

/** The guard's own error, wherever a client has wrapped it. */
export function findEgressError(error: unknown): EgressError | undefined {
  for (let depth = 0, current = error; depth < 8 && current instanceof Error; depth += 1, current = current.cause) {
    if (current instanceof EgressError) return current;
  }
  return undefined;
}
