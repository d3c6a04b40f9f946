import { isRecord } from '../../platform/records.ts';
import { invalid } from '../gateway-error.ts';
import type { JsonObject } from './dialect.ts';

/** Readers of single fields. `null` counts as absent; a value of the wrong type throws a fault with its path. */

export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

export function readObject(value: unknown, path: string): JsonObject {
  if (!isRecord(value)) throw invalid(path, 'must be an object');
  return value;
}

export function readList(value: unknown, path: string, wanted = 'an array'): unknown[] {
  if (!Array.isArray(value)) throw invalid(path, `must be ${wanted}`);
  return value;
}

export function readOptionalList(value: unknown, path: string): unknown[] {
  return isAbsent(value) ? [] : readList(value, path);
}

/** The list form of a field that may also be a string. */
export function readParts(value: unknown, path: string): unknown[] {
  return readList(value, path, 'a string or an array');
}

export function readText(value: unknown, path: string): string {
  if (typeof value !== 'string') throw invalid(path, 'must be a string');
  return value;
}

export function readName(value: unknown, path: string): string {
  const text = readText(value, path);
  if (text === '') throw invalid(path, 'must not be empty');
  return text;
}

export function readOptionalText(value: unknown, path: string): string | undefined {
  return isAbsent(value) ? undefined : readText(value, path);
}

export function readOptionalBoolean(value: unknown, path: string): boolean | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value !== 'boolean') throw invalid(path, 'must be true or false');
  return value;
}

export function readOptionalNumber(value: unknown, path: string, min: number, max: number): number | undefined {
  if (isAbsent(value)) return undefined;
  if (typeof value !== 'number' || !(value >= min && value <= max)) {
    throw invalid(path, `must be a number from ${min} to ${max}`);
  }
  return value;
}

/** A count of tokens and the like: 1 or more. */
export function readOptionalCount(value: unknown, path: string): number | undefined {
  if (isAbsent(value)) return undefined;
  if (!Number.isSafeInteger(value) || (value as number) < 1) throw invalid(path, 'must be an integer of 1 or more');
  return value as number;
}

export function readOptionalChoice<const T extends string>(
  value: unknown,
  path: string,
  choices: readonly T[],
): T | undefined {
  if (isAbsent(value)) return undefined;
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw invalid(path, `must be one of ${choices.join(', ')}`);
  return found;
}

/** A type as the caller sent it, shortened for an error message. */
export function nameType(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 60) : typeof value;
}
