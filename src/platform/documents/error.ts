import { CapstanError } from '../errors.ts';

export type DocumentErrorCode = 'unsupported' | 'broken' | 'encrypted' | 'too_large' | 'timeout';

/** Why a document cannot be read, in words for callers and models. */
export class DocumentError extends CapstanError<DocumentErrorCode> {}
