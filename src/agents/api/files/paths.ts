import { RESERVED_FOLDERS } from '../../contract/files.ts';
import { errors } from '../../../platform/errors.ts';

/** Removes the optional leading slash and redundant segments; the root is `''`. */
export function normalizePath(path: string): string {
  return path
    .split('/')
    .filter((segment) => segment !== '' && segment !== '.')
    .join('/');
}

/** A path that is about to be changed. Throws `validation_error` for the root and for reserved folders. */
export function normalizeChanged(path: string, field = 'path'): string {
  const normal = normalizePath(path);
  if (normal === '') throw errors.validation(`${field}: must not be the workspace itself`);
  if (RESERVED_FOLDERS.includes(normal.split('/')[0] ?? '')) throw reservedPath(field);
  return normal;
}

export function reservedPath(field: string) {
  return errors.validation(`${field}: must not be at or below ${RESERVED_FOLDERS.join(' or ')}, which are reserved`);
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
