import type { ErrorBody } from './generated/shapes.ts';

/** The codes of the service; a newer server may know more. */
export type ErrorCode = ErrorBody['error'];

/** Anything this client throws, but for an abort of the caller's own. */
export class CapstanError extends Error {
  override readonly name: string = 'CapstanError';
}

/** An answer of the server that is no success. */
export class ApiError extends CapstanError {
  override readonly name = 'ApiError';
  readonly status: number;
  /** `unknown` when the answer was not the service's own, of a proxy for instance */
  readonly code: ErrorCode | 'unknown';
  /** false: the same request must not be sent again */
  readonly retryable: boolean;
  /** which allowance is exhausted, and until when */
  readonly rateLimit: ErrorBody['rateLimit'];
  /** what the server asks to wait at least */
  readonly retryAfterSeconds: number | undefined;
  /** finds the request in the server's log */
  readonly requestId: string | undefined;

  constructor(response: { status: number; statusText: string; headers: Headers }, body: Partial<ErrorBody>) {
    super(body.message ?? `The server answered ${response.status} ${response.statusText}`.trim());
    this.status = response.status;
    this.code = body.error ?? 'unknown';
    this.retryable = body.retryable !== false && (response.status === 429 || response.status >= 500);
    this.rateLimit = body.rateLimit;
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    this.retryAfterSeconds = Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
    this.requestId = response.headers.get('x-request-id') ?? undefined;
  }
}

/** No answer: the server could not be reached, broke off, or took longer than `timeoutMs`. */
export class ConnectionError extends CapstanError {
  override readonly name = 'ConnectionError';
}

/** Follows the causes down to the one that says something: "fetch failed" does not. */
export function describeCause(error: unknown): string {
  let cause = error;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  if (cause instanceof AggregateError) return describeCause(cause.errors[0]);
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || String('code' in cause ? cause.code : cause.name);
}

export async function readApiError(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const isOurs = typeof body === 'object' && body !== null && 'error' in body && 'message' in body;
  return new ApiError(response, isOurs ? (body as ErrorBody) : {});
}
