import type { StopReason } from '../../contract/events.ts';
import type { LogEvent, StepCall } from '../../log/event.ts';
import { isModelCall, resultOf } from '../../log/read.ts';

/** Consecutive equal failing calls after which the model is warned, and after which the turn ends. */
const WARN_AFTER = 3;
const END_AFTER = 5;

const CUT_OFF = 'The reply was cut off at its limit of';
const WARNING =
  'This call has failed several times in a row without a change. Do not repeat it: change the arguments, take another ' +
  'way, or tell the user what is missing.';

/** The result of a call whose arguments were cut off. */
export function describeCutOff(tokens: number): string {
  return `${CUT_OFF} ${tokens} output tokens before this call was complete, so it was not run. Do it in smaller parts, one call for each.`;
}

/** A call as it is compared. The input of a call that was cut off depends on chance. */
function buildKey(name: string, input: unknown, isCutOff: boolean): string {
  return isCutOff ? `${name} cut off` : `${name} ${JSON.stringify(sortKeys(input))}`;
}

// The database does not keep the order of keys.
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const sorted = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, inner]) => [name, sortKeys(inner)]));
}

/** The equal failing calls at the end of a turn so far. */
type Streak = { key: string; count: number };

function readStreak(log: readonly LogEvent[], turnId: string): Streak {
  const calls = new Map<string, { name: string; input: unknown }>();
  let streak: Streak = { key: '', count: 0 };
  for (const event of log) {
    if (event.turnId !== turnId) continue;
    if (isModelCall(event)) {
      const { payload, internal } = event;
      calls.set(payload.id, { name: internal?.name ?? '', input: 'input' in payload ? payload.input : null });
    }
    const result = resultOf(event);
    const call = result && calls.get(result.useId);
    if (result === undefined || call === undefined) continue;
    const key = buildKey(call.name, call.input, result.text.includes(CUT_OFF));
    streak = result.isError ? { key, count: key === streak.key ? streak.count + 1 : 1 } : { key: '', count: 0 };
  }
  return streak;
}

/**
 * Adds a warning to the failure of a call that has failed in the same way just before. Results in one write count once.
 */
export function warnOfRepeats(
  content: string,
  { call, input }: { call: StepCall; input: unknown },
  log: readonly LogEvent[],
  turnId: string,
): string {
  const { key, count } = readStreak(log, turnId);
  const isEqual = key === buildKey(call.name, input, call.cutOffAt !== undefined);
  return isEqual && count + 1 >= WARN_AFTER ? `${content}\n\n${WARNING}` : content;
}

/** Why the turn ends when the model repeats a failing call; undefined: it goes on. */
export function findRepeatedFailure(log: readonly LogEvent[], turnId: string): StopReason | undefined {
  if (readStreak(log, turnId).count < END_AFTER) return undefined;
  const message = `The model repeated a failing tool call ${END_AFTER} times.`;
  return { type: 'error', code: 'repeated_failure', message, retryable: false };
}
