/** What is wrong with a file that a caller sent, in one sentence fit for them. Becomes 400 `invalid_reference`. */
export class InvalidReferenceError extends Error {
  override readonly name = 'InvalidReferenceError';
}
