import type { ExecutorFault } from '../../src/sandbox/protocol/executor.ts';

/** Thrown inside the executor for what the other side should read; anything else becomes `internal`. */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly kind: ExecutorFault['kind'];
  readonly code: string;

  constructor(kind: ExecutorFault['kind'], code: string, message: string) {
    super(message);
    this.kind = kind;
    this.code = code;
  }
}

export function fileFault(code: string, path: string): Fault {
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
  return new Fault('file', code, `${path}: ${reasons[code] ?? code}`);
}

/** The wire form of anything thrown. Failures of the file system keep their POSIX name, without the path inside. */
export function describeFault(error: unknown, path = 'file'): ExecutorFault {
  if (error instanceof Fault) return { kind: error.kind, code: error.code, message: error.message };
  const code = (error as NodeJS.ErrnoException).code;
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code) && 'syscall' in (error as object)) {
    const fault = fileFault(code, path);
    return { kind: 'file', code, message: fault.message };
  }
  return { kind: 'internal', code: 'INTERNAL', message: error instanceof Error ? error.message : String(error) };
}
