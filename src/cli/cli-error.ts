import { ApiError, ConnectionError } from '../../clients/typescript/index.ts';
import { CapstanError, errorText } from '../platform/errors.ts';

/** What goes wrong for a reason that the person at the terminal can mend: one line on stderr, no stack. */
export class CliError extends CapstanError<'cli_failed'> {
  /** 1, or 2 when the command was not used as it is meant */
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super('cli_failed', message);
    this.exitCode = exitCode;
  }
}

/** What went wrong, and what the person at the terminal can do about it. */
export function describeError(error: unknown): string {
  const text = errorText(error);
  if (error instanceof ConnectionError) return `${text} Start a server, or set CAPSTAN_URL.`;
  if (error instanceof ApiError && error.status === 401) return `${text} Set CAPSTAN_API_KEY to a key of this server.`;
  return text;
}
