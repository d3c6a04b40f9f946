import { SandboxCapacityError, SandboxError, SandboxFileError, SandboxRefusedError } from '../../../sandbox/sandbox.ts';
import { MAX_VOLUME_BYTES } from '../../../sandbox/volume-size.ts';
import { MAX_FILE_BYTES } from '../../contract/files.ts';
import { errors } from '../../../platform/errors.ts';
import type { ApiError } from '../../../platform/errors.ts';
import { reservedPath } from './paths.ts';

/** What the operation was about to do, and which parameter names the path. */
export type Attempt = { kind: 'read' | 'list' | 'change'; field: string };

export function tooBig(field: string): ApiError {
  return errors.validation(`${field}: must be at most ${MAX_FILE_BYTES} bytes`);
}

function noFolder({ kind, field }: Attempt): ApiError {
  if (kind === 'change') return errors.conflict('A part of the path is not a folder.');
  return kind === 'list' ? errors.validation(`${field}: must be a folder`) : errors.notFound('file or folder');
}

function describeCode(code: string, attempt: Attempt): ApiError | undefined {
  const { field } = attempt;
  switch (code) {
    case 'ENOENT':
      return errors.notFound('file or folder');
    case 'EEXIST':
      return errors.conflict('The path exists already.');
    case 'ENOTDIR':
      return noFolder(attempt);
    case 'ENOTEMPTY':
      return errors.conflict('The folder is not empty.');
    case 'ERESERVED':
      return reservedPath(field);
    case 'EISDIR':
      return errors.validation(`${field}: must not be a folder`);
    case 'EINVAL':
      return errors.validation(`${field}: must be a regular file or folder, and not lead into itself`);
    case 'ESCAPE':
      return errors.validation(`${field}: must not lead outside the workspace`);
    case 'ELOOP':
    case 'ENAMETOOLONG':
      return errors.validation(`${field}: must be a path that the volume can hold`);
    case 'ETOOBIG':
      return tooBig('file');
    case 'EDQUOT':
      return errors.validation(`content: must fit into the volume, which is limited to ${MAX_VOLUME_BYTES} bytes`);
    case 'EACCES':
    case 'EPERM':
      return errors.forbidden('The workspace does not permit this.');
    default:
      return undefined;
  }
}

/** Converts a failed file operation to an API error; other errors stay unchanged. */
export function describeFileError(error: unknown, attempt: Attempt): unknown {
  if (error instanceof SandboxFileError) {
    return describeCode(error.code, attempt) ?? errors.unavailable('The volume cannot do this at the moment.', error);
  }
  if (error instanceof SandboxCapacityError) {
    return errors.capacityShort(error.message, error.retryAfterSeconds, error);
  }
  if (error instanceof SandboxRefusedError) return errors.unavailable(error.message, error);
  if (error instanceof SandboxError)
    return errors.unavailable('The volume cannot be reached; try again shortly.', error);
  return error;
}
