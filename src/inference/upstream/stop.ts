import type { ModelDelta } from '../model.ts';

/** The sequence that is complete first, as one that came character by character would end there; `end` is its begin. */
function findStop(text: string, sequences: readonly string[]): { end: number; sequence: string } | undefined {
  let found: { end: number; sequence: string } | undefined;
  for (const sequence of sequences) {
    const end = text.indexOf(sequence);
    if (end === -1) continue;
    const later = found === undefined ? 1 : found.end + found.sequence.length - (end + sequence.length);
    if (found === undefined || later > 0 || (later === 0 && end < found.end)) found = { end, sequence };
  }
  return found;
}

/** How many of the last characters may be the beginning of a sequence. */
function countUndecided(text: string, sequences: readonly string[]): number {
  let most = 0;
  for (const sequence of sequences) {
    for (let length = Math.min(sequence.length - 1, text.length); length > most; length -= 1) {
      if (text.endsWith(sequence.slice(0, length))) most = length;
    }
  }
  return most;
}

/**
 * Ends a reply at a stop sequence, for upstreams that have none: the text goes up to it, what would follow is left out,
 * and the usage is still that of the whole reply, which is read to its end.
 */
export async function* endAtStop(
  deltas: AsyncIterable<ModelDelta>,
  sequences: readonly string[],
): AsyncGenerator<ModelDelta> {
  let held: { index: number; text: string } | undefined;
  let stopped: string | undefined;
  for await (const delta of deltas) {
    if (delta.type === 'text') {
      if (stopped !== undefined) continue;
      const text = (held?.index === delta.index ? held.text : '') + delta.text;
      if (held !== undefined && held.index !== delta.index) yield { type: 'text', ...held };
      const stop = findStop(text, sequences);
      stopped = stop?.sequence;
      const end = stop?.end ?? text.length - countUndecided(text, sequences);
      held = stop === undefined && end < text.length ? { index: delta.index, text: text.slice(end) } : undefined;
      if (end > 0) yield { type: 'text', index: delta.index, text: text.slice(0, end) };
      continue;
    }
    if (stopped === undefined && held !== undefined && delta.type !== 'start') {
      yield { type: 'text', ...held };
      held = undefined;
    }
    if (delta.type !== 'finish') {
      if (stopped === undefined || delta.type === 'start') yield delta;
    } else {
      yield stopped === undefined ? delta : { ...delta, reason: 'stop', stopSequence: stopped };
    }
  }
}
