import type { ExecutorErrorBody } from '../../src/sandbox/protocol/executor.ts';

/** An error that is reported to the caller; any other error becomes `internal`. */
export class ExecutorError extends Error {
  override readonly name = 'ExecutorError';
  readonly kind: ExecutorErrorBody['kind'];
  readonly code: string;

  constructor(kind: ExecutorErrorBody['kind'], code: string, message: string) {
    super(message);
    this.kind = kind;
    this.code = code;
  }
}

export function fileError(code: string, path: string): ExecutorError {
  const reasons: Record<string, string> = {
    ENOENT: 'no such file or directory',
    EISDIR: 'is a directory',
    ENOTDIR: 'a part of the path is not a directory',
    EEXIST: 'already exists',
    ENOTEMPTY: 'the directory is not empty',
    ELOOP: 'too many symbolic links',
    ESCAPE: 'the path leads outside the workspace',
    ETOOBIG: 'the file is too big',
    ECHANGED: 'the file was changed in between',
    EINVAL: 'not a regular file or not a valid path',
    ENOSPC: 'no space left in the workspace',
    EDQUOT: 'the volume has no room for it',
    ERESERVED: 'is reserved',
    EACCES: 'permission denied',
  };
  return new ExecutorError('file', code, `${path}: ${reasons[code] ?? code}`);
}

/** Converts any error for the wire. File system errors keep their POSIX name, without the path. */
export function describeError(error: unknown, path = 'file'): ExecutorErrorBody {
  if (error instanceof ExecutorError) return { kind: error.kind, code: error.code, message: error.message };
  const code = (error as NodeJS.ErrnoException).code;
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code) && 'syscall' in (error as object)) {
    const fault = fileError(code, path);
    return { kind: 'file', code, message: fault.message };
  }
  return { kind: 'internal', code: 'INTERNAL', message: error instanceof Error ? error.message : String(error) };
}
