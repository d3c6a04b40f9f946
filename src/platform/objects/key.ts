const KEY = /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/;
const DOTS = /(^|\/)\.{1,2}(\/|$)/;

/** Throws for an invalid key, which is a programming error, never a user's mistake. */
export function requireKey(key: string): void {
  if (key.length > 1_000 || !KEY.test(key) || DOTS.test(key))
    throw new TypeError(`Not an object key: ${key.slice(0, 100)}`);
}
