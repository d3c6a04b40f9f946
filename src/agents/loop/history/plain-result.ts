import { isRecord } from '../../../platform/records.ts';

/** Texts up to this length without line breaks stay in the header. */
const SHORT = 200;

/**
 * A tool's JSON result as the model reads it: a header of short fields, then long texts as they are, without escapes.
 * Anything else is returned unchanged. Pure.
 */
export function renderPlain(result: string): string {
  const fields = parseFields(result);
  if (fields === undefined) return result;
  const long = Object.entries(fields).filter((entry): entry is [string, string] => isLong(entry[1]));
  if (long.length === 0) return result;
  const short = Object.fromEntries(Object.entries(fields).filter(([, value]) => !isLong(value)));
  const header = Object.keys(short).length === 0 ? [] : [JSON.stringify(short)];
  return [...header, ...long.map(([name, text]) => `${name}:\n${text}`)].join('\n\n');
}

function parseFields(result: string): Record<string, unknown> | undefined {
  if (!result.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(result);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isLong(value: unknown): value is string {
  return typeof value === 'string' && (value.length > SHORT || value.includes('\n'));
}
