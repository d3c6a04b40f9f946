import { LOGIN_ERROR_STATUS } from './contract/errors.ts';
import type { LoginErrorCode } from './contract/errors.ts';

type Options = {
  /** shown to the caller beside the message; holds no secret and no text of the page */
  details?: Record<string, unknown>;
  retryAfterSeconds?: number;
  /** for the log */
  cause?: unknown;
};

/** How a login, signup or refresh can end short of a session. The message is for callers. */
export class LoginError extends Error {
  override readonly name = 'LoginError';
  readonly code: LoginErrorCode;
  readonly details: Record<string, unknown> | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: LoginErrorCode, message: string, options: Options = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get status(): number {
    return LOGIN_ERROR_STATUS[this.code];
  }
}
