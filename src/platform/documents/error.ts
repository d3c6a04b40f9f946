export type DocumentErrorCode = 'unsupported' | 'broken' | 'encrypted' | 'too_large' | 'timeout';

/** What is wrong with a document, in words fit for a caller and a model. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
  readonly fault: DocumentErrorCode;

  constructor(fault: DocumentErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.fault = fault;
  }
}
