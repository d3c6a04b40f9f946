const MAX_DEPTH = 100;

function describeText(text: string): string | undefined {
  if (text.includes('\0')) return 'must not contain NUL characters';
  return text.isWellFormed() ? undefined : 'must be valid Unicode';
}

/**
 * Why the database could not keep a parsed JSON value, or undefined when it can: NUL characters, lone surrogates and
 * endless nesting are JSON but neither text nor jsonb.
 */
export function describeUnstorable(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return describeText(value);
  if (value === null || typeof value !== 'object') return undefined;
  if (depth === MAX_DEPTH) return `must be nested at most ${MAX_DEPTH} levels deep`;
  for (const [key, item] of Object.entries(value)) {
    const reason = (Array.isArray(value) ? undefined : describeText(key)) ?? describeUnstorable(item, depth + 1);
    if (reason !== undefined) return reason;
  }
  return undefined;
}
