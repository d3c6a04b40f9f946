import { CapstanError } from '../../platform/errors.ts';
import type { CauseOptions } from '../../platform/errors.ts';

/** Why a caller's file is rejected, in one sentence for the caller. Becomes 400 `invalid_reference`. */
export class InvalidReferenceError extends CapstanError<'invalid_reference'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('invalid_reference', message, options);
  }
}
