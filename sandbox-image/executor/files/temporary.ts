import { randomBytes } from 'node:crypto';

const PATTERN = /^\.capstan-[0-9a-f]{16}\.tmp$/;

/** A temporary name beside `at`, for unfinished or removed entries. Listings omit such names. */
export function temporaryBeside(at: string): string {
  return `${at.slice(0, at.lastIndexOf('/'))}/.capstan-${randomBytes(8).toString('hex')}.tmp`;
}

export function isTemporary(name: string): boolean {
  return PATTERN.test(name);
}
