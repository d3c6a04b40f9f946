import { adaptReplacement, findEscapeDrift } from './guards.ts';
import type { TextRange } from './ranges.ts';
import { STRATEGIES } from './strategies.ts';

export type Replacement =
  | { ok: true; text: string; count: number; strategy: string; ranges: TextRange[] }
  | { ok: false; reason: 'miss' | 'ambiguous' | 'refused'; error: string };

const SHOWN = 5;

/** Replaces `old` by `next`, found by the first of nine strategies that finds it. Pure. */
export function replaceText(text: string, old: string, next: string, all: boolean): Replacement {
  if (old === '') return refuse('old_string must not be empty.');
  if (old.trim() === '') return refuse('old_string holds only blanks: give some text to find the place by.');
  if (old === next) return refuse('old_string and new_string are the same.');
  for (const strategy of STRATEGIES) {
    const ranges = strategy.find(text, old);
    if (ranges.length === 0) continue;
    if (ranges.length > 1 && !all) return ambiguous(text, ranges);
    if (all && strategy.loose === true) {
      return refuse('replace_all needs an old_string that matches closely; only a similar place was found.');
    }
    return apply(text, ranges, strategy.name, { old, next });
  }
  if (next.length >= 8 && text.includes(next)) {
    return { ok: true, text, count: 0, strategy: 'already_applied', ranges: [] };
  }
  return { ok: false, reason: 'miss', error: 'Could not find a match for old_string in the file.' };
}

function apply(
  text: string,
  ranges: TextRange[],
  strategy: string,
  { old, next }: { old: string; next: string },
): Replacement {
  let result = '';
  let at = 0;
  for (const { start, end } of ranges) {
    const region = text.slice(start, end);
    const drift = strategy === 'exact' ? undefined : findEscapeDrift(region, old, next);
    if (drift !== undefined) return refuse(drift);
    result += text.slice(at, start) + (strategy === 'exact' ? next : adaptReplacement(strategy, region, old, next));
    at = end;
  }
  return { ok: true, text: result + text.slice(at), count: ranges.length, strategy, ranges };
}

function refuse(error: string): Replacement {
  return { ok: false, reason: 'refused', error };
}

function ambiguous(text: string, ranges: TextRange[]): Replacement {
  const places = ranges.slice(0, SHOWN).map(({ start }) => {
    const line = text.slice(0, start).split('\n').length;
    return `L${line}: ${(text.split('\n')[line - 1] ?? '').trim().slice(0, 80)}`;
  });
  return {
    ok: false,
    reason: 'ambiguous',
    error:
      `Found ${ranges.length} matches for old_string. Add context to make it unique, or set replace_all. ` +
      `Places: ${places.join('; ')}${ranges.length > SHOWN ? '; …' : ''}`,
  };
}
