const MAX_DEPTH = 100;

function describeText(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain NUL characters';
  return text.isWellFormed() ? undefined : 'must be valid Unicode';
}

/** Where a value holds what cannot be kept, and why; of a bad key, where the object is. */
export type Unstorable = { path: PropertyKey[]; reason: string };

/**
 * Why the database could not keep a parsed JSON value, or undefined when it can: NUL characters, lone surrogates and
 * endless nesting are JSON but neither text nor jsonb.
 */
export function findUnstorable(value: unknown, path: PropertyKey[] = []): Unstorable | undefined {
  if (typeof value === 'string') return blame(path, describeText(value));
  if (value === null || typeof value !== 'object') return undefined;
  if (path.length === MAX_DEPTH) return blame([], `must be nested at most ${MAX_DEPTH} levels deep`);
  const isList = Array.isArray(value);
  for (const [key, item] of Object.entries(value)) {
    const inner = [...path, isList ? Number(key) : key];
    const found = (isList ? undefined : blame(path, describeText(key))) ?? findUnstorable(item, inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

function blame(path: PropertyKey[], reason: string | undefined): Unstorable | undefined {
  return reason === undefined ? undefined : { path, reason };
}

/** The known part of a path, without field names that the caller made up. */
export function cutPath(path: readonly PropertyKey[], known: unknown): PropertyKey[] {
  const kept: PropertyKey[] = [];
  let at = known;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) break;
    kept.push(key);
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return kept;
}
