export type DocumentFault = 'unsupported' | 'broken' | 'encrypted' | 'too_large' | 'timeout';

/** What is wrong with a document, in words fit for a caller and a model. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
  readonly fault: DocumentFault;

  constructor(fault: DocumentFault, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.fault = fault;
  }
}
