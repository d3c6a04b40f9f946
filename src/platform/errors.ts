import type { BudgetRef } from './contract/budgets.ts';
import { ERROR_STATUS, publicCode } from './contract/errors.ts';
import type { ErrorBody, ErrorCode } from './contract/errors.ts';

export type CauseOptions = { cause?: unknown };

/** What every error class stands on. `Code` says what went wrong, as a stable identifier. */
export class CapstanError<Code extends string = string> extends Error {
  readonly code: Code;
  /** the same request may succeed later, unchanged */
  readonly retryable: boolean;

  constructor(code: Code, message: string, options: CauseOptions & { retryable?: boolean } = {}) {
    super(message, { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}

const RETRYABLE: ReadonlySet<ErrorCode> = new Set([
  'rate_limited',
  'unavailable',
  'storage_full',
  'upstream_failed',
  'service_delete_failed',
]);

type Details = {
  /** what the answer says of it; it says nothing when absent */
  retryable?: false;
  rateLimit?: ErrorBody['rateLimit'];
  /** seconds the caller should wait, for the header `Retry-After` */
  retryAfterSeconds?: number;
  /** the refusal leaves a record in the audit */
  isRecorded?: true;
  /** the real reason, for the log; never sent */
  cause?: unknown;
};

/** An answer that a caller may see. Anything else that is thrown becomes `server_error` without its text. */
export class ApiError extends CapstanError<ErrorCode> {
  readonly details: Details;

  constructor(code: ErrorCode, message: string, details: Details = {}) {
    super(code, message, { cause: details.cause, retryable: details.retryable ?? RETRYABLE.has(code) });
    this.details = details;
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }

  get body(): ErrorBody {
    const { retryable, rateLimit } = this.details;
    return {
      error: publicCode(this.code),
      message: this.message,
      ...(retryable === undefined ? {} : { retryable }),
      ...(rateLimit === undefined ? {} : { rateLimit }),
    };
  }
}

/** A model call that was not made: what may be spent is spent, or reserved by other calls under way. */
export class BudgetReachedError extends CapstanError<'budget_reached'> {
  readonly budget: BudgetRef;

  constructor(budget: BudgetRef) {
    const { scope, limitUsd, period } = budget;
    const per = period === 'total' ? '' : ` per ${period}`;
    super('budget_reached', `The budget of the ${scope} is used up: $${limitUsd}${per}.`);
    this.budget = budget;
  }
}

/** A mistake of the operator at start: one line on stderr and exit code 1, without a stack. */
export class StartupError extends CapstanError<'startup_failed'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('startup_failed', message, options);
  }
}

/** The catalogue. Each function is one thing that can go wrong, said the same way everywhere. */
export const errors = {
  validation: (message: string) => new ApiError('validation_error', message),
  unauthorized: () => new ApiError('unauthorized', 'The API key is missing, invalid or revoked.'),
  missingScope: (scope: string) => new ApiError('forbidden', `The API key lacks the scope ${scope}.`),
  forbidden: (message: string) => new ApiError('forbidden', message),
  refusedApproval: (message: string) => new ApiError('forbidden', message, { isRecorded: true }),
  notFound: (what: string) => new ApiError('not_found', `No such ${what}.`),
  conflict: (message: string) => new ApiError('conflict', message),
  invalidState: (message: string) => new ApiError('invalid_state', message),
  noActiveTurn: () => new ApiError('no_active_turn', 'The session has no live turn to steer or interrupt.'),
  responseExpired: () =>
    new ApiError('response_expired', 'The turn that asked for this response has ended or was already answered.', {
      retryable: false,
    }),
  payloadTooLarge: (limit: number) =>
    new ApiError('payload_too_large', `The request body must be at most ${limit} bytes.`),
  rateLimited: (rateLimit: NonNullable<ErrorBody['rateLimit']>) =>
    new ApiError('rate_limited', `The allowance of ${rateLimit.resource} is exhausted.`, {
      rateLimit,
      retryAfterSeconds: rateLimit.resetAfterSeconds,
    }),
  capacityShort: (message: string, retryAfterSeconds: number, cause?: unknown) =>
    new ApiError('rate_limited', message, { retryAfterSeconds, cause }),
  methodNotAllowed: () => new ApiError('method_not_allowed', 'The path has no such method.'),
  unavailable: (message: string, cause?: unknown) =>
    new ApiError('unavailable', message, { retryAfterSeconds: 1, cause }),
  storageFull: (cause?: unknown) =>
    new ApiError('storage_full', 'The storage is full: nothing can be written until space is freed.', {
      retryAfterSeconds: 10,
      cause,
    }),
  upstreamFailed: (message: string, cause?: unknown) => new ApiError('upstream_failed', message, { cause }),
  serviceDeleteFailed: (cause: unknown) =>
    new ApiError('service_delete_failed', 'A sandbox or a volume could not be deleted; try again.', { cause }),
} as const;

/** The text of anything thrown, for logs. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
