import type { z } from 'zod';

/** Fields whose keys are the caller's own words, which messages do not repeat. */
const OPEN_FIELDS: readonly PropertyKey[] = ['metadata', 'input_schema'];

/** `a.b[0]` for a place in what the caller sent, `root` for all of it. A key of the caller's own is `*`. */
export function describePath(path: readonly PropertyKey[], root: string): string {
  const open = path.findIndex((key) => OPEN_FIELDS.includes(key));
  const shown = open === -1 || open === path.length - 1 ? path : [...path.slice(0, open + 1), '*'];
  const text = shown.reduce<string>(
    (left, key) => (typeof key === 'number' ? `${left}[${key}]` : left === '' ? String(key) : `${left}.${String(key)}`),
    '',
  );
  return text === '' ? root : text;
}

/** The validator's names of types that a caller knows by others. */
const TYPES: Record<string, string> = { record: 'object', int: 'integer' };

const UNITS: Record<string, string> = { string: ' characters', array: ' items', set: ' items', map: ' entries' };

/** Whether nothing stands at the path. Enums and unions do not tell a missing field from a wrong one. */
function isMissing(value: unknown, path: readonly PropertyKey[]): boolean {
  let at = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null) return false;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return at === undefined && path.length > 0;
}

/** `words`: for a bound that is allowed itself, and for one that is not. */
function describeBound(
  { origin, inclusive = true }: { origin: string; inclusive?: boolean | undefined },
  bound: number | bigint,
  words: readonly [string, string],
): string {
  return `must be ${inclusive ? words[0] : words[1]} ${bound}${UNITS[origin] ?? ''}`;
}

function describeConstraint(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.message.endsWith('received undefined')
        ? 'is required'
        : `must be of type ${TYPES[issue.expected] ?? issue.expected}`;
    case 'too_big':
      return describeBound(issue, issue.maximum, ['at most', 'less than']);
    case 'too_small':
      return describeBound(issue, issue.minimum, ['at least', 'more than']);
    case 'invalid_value':
      return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'invalid_union':
      return 'discriminator' in issue && issue.discriminator !== undefined
        ? 'must be a known type'
        : 'must match one of the allowed forms';
    case 'invalid_format':
      return issue.message.startsWith('must') ? issue.message : `must be a valid ${issue.format}`;
    case 'invalid_key':
    case 'invalid_element':
      return 'has an invalid entry';
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return 'has unknown fields';
    case 'custom':
      return issue.message;
  }
}

/**
 * `path: constraint` entries separated by `;`, at most ten. Never contains what the caller sent; given it, a missing enum
 * or union is told from a wrong one.
 */
export function describeIssues(error: z.ZodError, root = 'body', sent?: unknown): string {
  const entries = error.issues.map((issue) => {
    // The last step of the path to a bad key is that key itself.
    const path = issue.code === 'invalid_key' ? issue.path.slice(0, -1) : issue.path;
    const missing = sent !== undefined && issue.code !== 'custom' && isMissing(sent, path);
    return `${describePath(path, root)}: ${missing ? 'is required' : describeConstraint(issue)}`;
  });
  const shown = [...new Set(entries)].slice(0, 10);
  return shown.join('; ') + (entries.length > shown.length && entries.length > 10 ? '; …' : '');
}
