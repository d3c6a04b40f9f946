import { CapstanError } from '../../platform/errors.ts';
import type { CauseOptions } from '../../platform/errors.ts';

/** What is wrong with a file that a caller sent, in one sentence fit for them. Becomes 400 `invalid_reference`. */
export class InvalidReferenceError extends CapstanError<'invalid_reference'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('invalid_reference', message, options);
  }
}
