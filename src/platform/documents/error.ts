import { CapstanError } from '../errors.ts';

export type DocumentErrorCode = 'unsupported' | 'broken' | 'encrypted' | 'too_large' | 'timeout';

/** What is wrong with a document, in words fit for a caller and a model. */
export class DocumentError extends CapstanError<DocumentErrorCode> {}
