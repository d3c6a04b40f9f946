import { CapstanError } from '../platform/errors.ts';
import { LOGIN_ERROR_STATUS } from './contract/errors.ts';
import type { LoginErrorCode } from './contract/errors.ts';

type Options = {
  /** details for the caller beside the message; holds no secret and no text of the page */
  details?: Record<string, unknown>;
  retryAfterSeconds?: number;
  /** for the log */
  cause?: unknown;
};

const RETRYABLE: ReadonlySet<LoginErrorCode> = new Set(['capacity', 'unavailable', 'rate_limited']);

/** A login, signup or refresh that ended without a session. The message is for callers. */
export class LoginError extends CapstanError<LoginErrorCode> {
  readonly details: Record<string, unknown> | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** of the recorded login that it belongs to */
  loginId: string | undefined;

  constructor(code: LoginErrorCode, message: string, options: Options = {}) {
    super(code, message, { cause: options.cause, retryable: RETRYABLE.has(code) });
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** Sets the login that it belongs to. */
  of(loginId: string): this {
    this.loginId = loginId;
    return this;
  }

  get status(): number {
    return LOGIN_ERROR_STATUS[this.code];
  }
}
