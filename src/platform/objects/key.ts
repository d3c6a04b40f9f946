const KEY = /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/;
const DOTS = /(^|\/)\.{1,2}(\/|$)/;

/** Throws for what is not a key: a mistake of the caller, never of a user. */
export function requireKey(key: string): void {
  if (key.length > 1_000 || !KEY.test(key) || DOTS.test(key))
    throw new TypeError(`Not an object key: ${key.slice(0, 100)}`);
}
