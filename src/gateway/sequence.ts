import { ModelError } from '../inference/model.ts';
import type { AssistantPart, Citation, ModelDelta, ModelReply, ModelUsage, TextPart } from '../inference/model.ts';
import { omitUndefined } from '../platform/records.ts';

/**
 * Events that every client dialect can write: one part is open at a time, in order, and indexes have no gaps. The
 * deltas of a part join to the text (or the arguments) of the part in `close`, and the closed parts are the content of
 * the reply in `finish`.
 */
export type ReplyEvent =
  /** `usage` is the upstream's count so far, if it sends one */
  | { type: 'start'; id: string; model: string; usage?: ModelUsage }
  /** `part` has no text yet */
  | { type: 'open'; index: number; part: AssistantPart }
  | { type: 'delta'; index: number; part: AssistantPart; text: string }
  | { type: 'citation'; index: number; part: TextPart; citation: Citation }
  | { type: 'close'; index: number; part: AssistantPart }
  | { type: 'finish'; reply: ModelReply };

/** `reasoning`: whether the reply includes it; `summaries`: whether all of it is written as summaries. */
export type SequencerOptions = { reasoning: boolean; summaries?: boolean };

export type Sequencer = { push(delta: ModelDelta, out: ReplyEvent[]): void };

type Entry = { part: AssistantPart; state: 'waiting' | 'open' | 'closed' };

/** Whether a call's arguments are complete; cheap while they are not. */
function isWhole(part: AssistantPart): boolean {
  if (part.type !== 'tool_call') return true;
  if (!part.arguments.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(part.arguments);
    return true;
  } catch {
    return false;
  }
}

function textOf(part: AssistantPart): string {
  return part.type === 'tool_call' ? part.arguments : part.text;
}

function withoutText(part: AssistantPart): AssistantPart {
  if (part.type === 'tool_call') return { ...part, arguments: '' };
  if (part.type === 'reasoning')
    return { type: 'reasoning', text: '', ...(part.summary === true ? { summary: true } : {}) };
  return { type: part.type, text: '' };
}

/**
 * Puts deltas in sequence. Tool calls may interleave with each other and with text: a part that begins while the
 * arguments of the open call are incomplete waits until they are complete, or until the reply ends.
 */
class ReplySequencer implements Sequencer {
  readonly #options: SequencerOptions;
  readonly #entries = new Map<number, Entry>();
  readonly #content: AssistantPart[] = [];
  readonly #waiting: Entry[] = [];
  #current: Entry | undefined;
  #id = '';
  #model = '';

  constructor(options: SequencerOptions) {
    this.#options = options;
  }

  #open(entry: Entry, out: ReplyEvent[]): void {
    this.#current = entry;
    entry.state = 'open';
    const index = this.#content.length;
    out.push({ type: 'open', index, part: withoutText(entry.part) });
    const text = textOf(entry.part);
    if (text !== '') out.push({ type: 'delta', index, part: entry.part, text });
    const { part } = entry;
    if (part.type !== 'text') return;
    for (const citation of part.citations ?? []) out.push({ type: 'citation', index, part, citation });
  }

  #close(out: ReplyEvent[]): void {
    if (this.#current === undefined) return;
    const { part } = this.#current;
    const index = this.#content.length;
    if (part.type === 'tool_call' && part.arguments === '') {
      part.arguments = '{}';
      out.push({ type: 'delta', index, part, text: '{}' });
    }
    this.#current.state = 'closed';
    this.#current = undefined;
    this.#content.push(part);
    out.push({ type: 'close', index, part });
  }

  #advance(out: ReplyEvent[]): void {
    while (this.#waiting.length > 0 && (this.#current === undefined || isWhole(this.#current.part))) {
      this.#close(out);
      this.#open(this.#waiting.shift()!, out);
    }
  }

  #begin(index: number, part: AssistantPart, out: ReplyEvent[]): void {
    const entry: Entry = { part, state: 'waiting' };
    this.#entries.set(index, entry);
    this.#waiting.push(entry);
    this.#advance(out);
  }

  #grow(entry: Entry, given: string, out: ReplyEvent[]): void {
    if (entry.state === 'closed') return;
    const { part } = entry;
    if (part.type === 'tool_call') {
      // Arguments that are only whitespace become `{}`, streamed or not.
      const text = part.arguments === '' ? given.trimStart() : given;
      part.arguments += text;
      if (entry.state === 'open' && text !== '') out.push({ type: 'delta', index: this.#content.length, part, text });
      this.#advance(out);
      return;
    }
    part.text += given;
    if (entry.state === 'open') out.push({ type: 'delta', index: this.#content.length, part, text: given });
  }

  #pushText(delta: Extract<ModelDelta, { type: 'text' | 'refusal' | 'reasoning' }>, out: ReplyEvent[]): void {
    if (delta.text === '') return;
    const entry = this.#entries.get(delta.index);
    if (entry !== undefined) return this.#grow(entry, delta.text, out);
    const { type, text } = delta;
    this.#begin(
      delta.index,
      type === 'reasoning' && (delta.summary === true || this.#options.summaries === true)
        ? { type, text, summary: true }
        : { type, text },
      out,
    );
  }

  #pushSignature(delta: Extract<ModelDelta, { type: 'reasoning_signature' }>, out: ReplyEvent[]): void {
    const { type: _type, index, ...signature } = delta;
    const entry = this.#entries.get(index);
    if (entry === undefined) this.#begin(index, { type: 'reasoning', text: '', ...signature }, out);
    // A signature that arrives after its part was closed can no longer be written.
    else if (entry.state !== 'closed' && entry.part.type === 'reasoning') Object.assign(entry.part, signature);
  }

  /** Citations of a part that is closed reach only clients that get whole replies. */
  #pushCitation({ index, citation }: Extract<ModelDelta, { type: 'citation' }>, out: ReplyEvent[]): void {
    const entry = this.#entries.get(index);
    if (entry?.part.type !== 'text') return;
    (entry.part.citations ??= []).push(citation);
    if (entry.state === 'open') out.push({ type: 'citation', index: this.#content.length, part: entry.part, citation });
  }

  push(delta: ModelDelta, out: ReplyEvent[]): void {
    switch (delta.type) {
      case 'start':
        this.#id = delta.id;
        this.#model = delta.model;
        out.push(delta);
        return;
      case 'reasoning':
        if (this.#options.reasoning) this.#pushText(delta, out);
        return;
      case 'reasoning_signature':
        if (this.#options.reasoning) this.#pushSignature(delta, out);
        return;
      case 'text':
      case 'refusal':
        this.#pushText(delta, out);
        return;
      case 'citation':
        return this.#pushCitation(delta, out);
      case 'tool_call':
        this.#begin(delta.index, { type: 'tool_call', id: delta.id, name: delta.name, arguments: '' }, out);
        return;
      case 'tool_arguments': {
        const entry = this.#entries.get(delta.index);
        if (entry !== undefined) this.#grow(entry, delta.text, out);
        return;
      }
      case 'finish': {
        this.#close(out);
        for (const entry of this.#waiting.splice(0)) {
          this.#open(entry, out);
          this.#close(out);
        }
        const { reason: finish, usage, stopSequence } = delta;
        const base = { id: this.#id, model: this.#model, content: this.#content, finish, usage };
        out.push({ type: 'finish', reply: { ...base, ...omitUndefined({ stopSequence }) } });
      }
    }
  }
}

export function buildSequencer(options: SequencerOptions): Sequencer {
  return new ReplySequencer(options);
}

/** The whole reply. Throws what the stream throws, and a `ModelError` when it ends without `finish`. */
export async function collectSequence(
  deltas: AsyncIterable<ModelDelta>,
  options: SequencerOptions,
): Promise<ModelReply> {
  const sequencer = buildSequencer(options);
  const out: ReplyEvent[] = [];
  for await (const delta of deltas) {
    out.length = 0;
    sequencer.push(delta, out);
    const last = out.at(-1);
    if (last?.type === 'finish') return last.reply;
  }
  throw new ModelError('upstream', "The provider's reply was cut off.");
}
