import { CapstanError } from '../errors.ts';
import type { CauseOptions } from '../errors.ts';

export type Allowance = {
  allowed: boolean;
  limit: number;
  /** after this call */
  remaining: number;
  /** until the window ends; the whole period when no window is open */
  resetMs: number;
};

/**
 * Counters in fixed windows. A window opens with the first point taken and lasts `periodMs`.
 * Throws `LimitsUnavailableError` when the counter cannot be read.
 */
export type Limits = {
  /** Takes all `points` or none, atomically. `points` 0 only reads. */
  take(key: string, points: number, limit: number, periodMs: number): Promise<Allowance>;
  /** Gives points back within the open window; never below zero taken. */
  refund(key: string, points: number): Promise<void>;
  ping(): Promise<void>;
  close(): Promise<void>;
};

export class LimitsUnavailableError extends CapstanError<'limits_unavailable'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('limits_unavailable', message, { ...options, retryable: true });
  }
}
