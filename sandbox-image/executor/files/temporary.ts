import { randomBytes } from 'node:crypto';

const PATTERN = /^\.capstan-[0-9a-f]{16}\.tmp$/;

/** A name beside `at` for what is not done yet, or no longer wanted. Listings leave such names out. */
export function temporaryBeside(at: string): string {
  return `${at.slice(0, at.lastIndexOf('/'))}/.capstan-${randomBytes(8).toString('hex')}.tmp`;
}

export function isTemporary(name: string): boolean {
  return PATTERN.test(name);
}
