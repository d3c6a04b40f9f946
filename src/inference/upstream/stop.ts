import type { ModelDelta } from '../model.ts';

/** The sequence that is complete first, as if the text came character by character. `end` is where it begins. */
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

/** How many trailing characters may be the beginning of a sequence. */
function countUndecided(text: string, sequences: readonly string[]): number {
  let most = 0;
  for (const sequence of sequences) {
    for (let length = Math.min(sequence.length - 1, text.length); length > most; length -= 1) {
      if (text.endsWith(sequence.slice(0, length))) most = length;
    }
  }
  return most;
}

/** Cuts the text of one reply at the first stop sequence. */
class StopCutter {
  readonly #sequences: readonly string[];
  /** text that may be the beginning of a sequence */
  #held: { index: number; text: string } | undefined;
  #stopped: string | undefined;

  constructor(sequences: readonly string[]) {
    this.#sequences = sequences;
  }

  push(delta: ModelDelta, out: ModelDelta[]): void {
    if (delta.type === 'start') out.push(delta);
    else if (delta.type === 'text') this.#pushText(delta.index, delta.text, out);
    else if (this.#stopped === undefined) {
      this.#releaseHeld(out);
      out.push(delta);
    } else if (delta.type === 'finish') {
      out.push({ ...delta, reason: 'stop', stopSequence: this.#stopped });
    }
  }

  #releaseHeld(out: ModelDelta[]): void {
    if (this.#held !== undefined) out.push({ type: 'text', ...this.#held });
    this.#held = undefined;
  }

  #pushText(index: number, added: string, out: ModelDelta[]): void {
    if (this.#stopped !== undefined) return;
    if (this.#held?.index !== index) this.#releaseHeld(out);
    const text = (this.#held?.text ?? '') + added;
    const stop = findStop(text, this.#sequences);
    this.#stopped = stop?.sequence;
    const end = stop?.end ?? text.length - countUndecided(text, this.#sequences);
    this.#held = stop === undefined && end < text.length ? { index, text: text.slice(end) } : undefined;
    if (end > 0) out.push({ type: 'text', index, text: text.slice(0, end) });
  }
}

/**
 * Ends a reply at a stop sequence, for upstreams whose format has none. The text ends before the sequence, and
 * everything after it is dropped. The reply is still read to its end, so the usage covers all of it.
 */
export async function* endAtStop(
  deltas: AsyncIterable<ModelDelta>,
  sequences: readonly string[],
): AsyncGenerator<ModelDelta> {
  const cutter = new StopCutter(sequences);
  const out: ModelDelta[] = [];
  for await (const delta of deltas) {
    cutter.push(delta, out);
    for (const each of out) yield each;
    out.length = 0;
  }
}
