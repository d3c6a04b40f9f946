import { isRecord } from '../../platform/records.ts';
import { ModelError } from '../model.ts';
import type { FinishReason, ModelUsage } from '../model.ts';

/** A JSON object from an upstream, not validated. */
export type JsonObject = Record<string, unknown>;

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new ModelError('upstream', 'The provider sent an event that is not JSON.', { cause });
  }
}

function requireObject(value: unknown): JsonObject {
  const wire = asObject(value);
  if (wire === undefined) throw new ModelError('upstream', 'The provider sent an event that is no object.');
  return wire;
}

export function parseObject(data: string): JsonObject {
  const value = parse(data);
  // Some compatibility layers wrap an error in a list of one.
  return requireObject(Array.isArray(value) ? value[0] : value);
}

/** The objects of an event that may also be a list of them. */
export function parseObjects(data: string): JsonObject[] {
  const value = parse(data);
  return Array.isArray(value) ? value.map(requireObject) : [requireObject(value)];
}

export function asObject(value: unknown): JsonObject | undefined {
  return isRecord(value) ? value : undefined;
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A whole number of tokens; 0 for anything else. */
export function asCount(value: unknown): number {
  return typeof value === 'number' && value > 0 && Number.isFinite(value) ? Math.round(value) : 0;
}

/** Tool arguments as JSON text: some upstreams send the parsed object. */
export function asArguments(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export const NO_USAGE: ModelUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

/** Upstreams report inconsistent reasons: the content decides between `stop`, `tool_calls` and `refusal`. */
export function decideFinish(reason: FinishReason, hasCalls: boolean, hasRefusal: boolean): FinishReason {
  if (reason === 'stop' || reason === 'tool_calls') {
    if (hasCalls) return 'tool_calls';
    return hasRefusal ? 'refusal' : 'stop';
  }
  return reason;
}

export function cutOff(): ModelError {
  return new ModelError('upstream', "The provider's reply was cut off.");
}
