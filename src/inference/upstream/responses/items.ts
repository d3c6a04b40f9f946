import { newId } from '../../../platform/ids.ts';
import { readAnnotation } from '../../citations.ts';
import { ModelError } from '../../model.ts';
import type { ModelDelta } from '../../model.ts';
import { asArguments, asList, asText, asObject } from '../wire.ts';
import type { JsonObject } from '../wire.ts';

type Shown = { part: number; length: number; annotations?: number };
type Item = {
  call: Shown | undefined;
  reasoning: Map<string, Shown>;
  texts: Map<number, Shown>;
  refusals: Map<number, Shown>;
  done: boolean;
};

/** The part of `whole` that has not been emitted yet. */
function rest(shown: Shown | undefined, whole: string): string {
  return whole.slice(shown?.length ?? 0);
}

/**
 * The output items of one response, by position. Content missing from the deltas is taken from the end of the item, or
 * from the end of the response: upstreams may omit any of the three.
 */
export class ItemLog {
  readonly #issuer: string;
  readonly #items = new Map<string, Item>();
  readonly #callIds = new Set<string>();
  #parts = 0;
  #refused = false;

  constructor(issuer: string) {
    this.#issuer = issuer;
  }

  /** Some upstreams change the ids of items between events; the position is stable. */
  #find(wire: JsonObject): Item {
    const key = typeof wire.output_index === 'number' ? `${wire.output_index}` : asText(wire.item_id) || '0';
    let item = this.#items.get(key);
    if (item === undefined) {
      item = { call: undefined, reasoning: new Map(), texts: new Map(), refusals: new Map(), done: false };
      this.#items.set(key, item);
    }
    return item;
  }

  #shownAt<K>(map: Map<K, Shown>, key: K): Shown {
    let shown = map.get(key);
    if (shown === undefined) map.set(key, (shown = { part: this.#parts++, length: 0 }));
    return shown;
  }

  pushText(wire: JsonObject, text: string, out: ModelDelta[]): void {
    if (text === '') return;
    const shown = this.#shownAt(this.#find(wire).texts, Number(wire.content_index ?? 0));
    shown.length += text.length;
    out.push({ type: 'text', index: shown.part, text });
  }

  pushRefusal(wire: JsonObject, text: string, out: ModelDelta[]): void {
    if (text === '') return;
    this.#refused = true;
    const shown = this.#shownAt(this.#find(wire).refusals, Number(wire.content_index ?? 0));
    shown.length += text.length;
    out.push({ type: 'refusal', index: shown.part, text });
  }

  pushAnnotation(wire: JsonObject, value: unknown, out: ModelDelta[]): void {
    const citation = readAnnotation('responses', value);
    const shown = this.#find(wire).texts.get(Number(wire.content_index ?? 0));
    if (citation === undefined || shown === undefined) return;
    shown.annotations = (shown.annotations ?? 0) + 1;
    out.push({ type: 'citation', index: shown.part, citation });
  }

  /** Several summaries of one item become one part, separated by a blank line. */
  pushReasoning(wire: JsonObject, text: string, out: ModelDelta[]): void {
    if (text === '') return;
    const summary = wire.summary_index !== undefined;
    const { reasoning } = this.#find(wire);
    const key = summary ? `s${Number(wire.summary_index)}` : 'c';
    let shown = reasoning.get(key);
    if (shown === undefined) {
      const before = summary ? [...reasoning].find(([name]) => name.startsWith('s'))?.[1] : undefined;
      shown = { part: before?.part ?? this.#parts++, length: 0 };
      reasoning.set(key, shown);
      if (before !== undefined) out.push({ type: 'reasoning', index: shown.part, text: '\n\n', summary });
    }
    shown.length += text.length;
    out.push({ type: 'reasoning', index: shown.part, text, ...(summary ? { summary } : {}) });
  }

  #openCall(wire: JsonObject, content: JsonObject, out: ModelDelta[]): void {
    const item = this.#find(wire);
    const name = asText(content.name);
    if (item.call !== undefined || name === '') return;
    const upstreamId = asText(content.call_id).trim();
    const id = upstreamId === '' || this.#callIds.has(upstreamId) ? newId('cal') : upstreamId;
    this.#callIds.add(id);
    item.call = { part: this.#parts++, length: 0 };
    out.push({ type: 'tool_call', index: item.call.part, id, name });
  }

  /** Argument deltas name the item, not the call. Deltas before their call are dropped; the end of the item has them. */
  pushArguments(wire: JsonObject, text: string, out: ModelDelta[]): void {
    const { call } = this.#find(wire);
    if (call === undefined || text === '') return;
    call.length += text.length;
    out.push({ type: 'tool_arguments', index: call.part, text });
  }

  completeArguments(wire: JsonObject, value: unknown, out: ModelDelta[]): void {
    this.pushArguments(wire, rest(this.#find(wire).call, asArguments(value)), out);
  }

  #completeReasoning(wire: JsonObject, content: JsonObject, out: ModelDelta[]): void {
    const item = this.#find(wire);
    asList(content.summary).forEach((each, index) => {
      const text = rest(item.reasoning.get(`s${index}`), asText(asObject(each)?.text));
      this.pushReasoning({ ...wire, summary_index: index }, text, out);
    });
    const whole = asList(content.content)
      .map((each) => asText(asObject(each)?.text))
      .join('');
    this.pushReasoning({ ...wire, summary_index: undefined }, rest(item.reasoning.get('c'), whole), out);
    const encrypted = asText(content.encrypted_content);
    if (encrypted === '') return;
    const part = [...item.reasoning.values()].at(-1)?.part ?? this.#parts++;
    out.push({ type: 'reasoning_signature', index: part, encrypted, issuer: this.#issuer });
  }

  #completeMessage(wire: JsonObject, content: JsonObject, out: ModelDelta[]): void {
    const item = this.#find(wire);
    asList(content.content).forEach((each, index) => {
      const part = asObject(each);
      const place = { ...wire, content_index: index };
      if (part?.type === 'refusal') this.pushRefusal(place, rest(item.refusals.get(index), asText(part.refusal)), out);
      else {
        this.pushText(place, rest(item.texts.get(index), asText(part?.text)), out);
        const told = item.texts.get(index)?.annotations ?? 0;
        for (const annotation of asList(part?.annotations).slice(told)) this.pushAnnotation(place, annotation, out);
      }
    });
  }

  open(wire: JsonObject, content: JsonObject, out: ModelDelta[]): void {
    if (content.type === 'function_call') this.#openCall(wire, content, out);
  }

  complete(wire: JsonObject, content: JsonObject, out: ModelDelta[]): void {
    const item = this.#find(wire);
    if (item.done) return;
    item.done = true;
    if (content.type === 'reasoning') this.#completeReasoning(wire, content, out);
    else if (content.type === 'message') this.#completeMessage(wire, content, out);
    else if (content.type === 'function_call') {
      this.#openCall(wire, content, out);
      if (item.call === undefined) throw new ModelError('upstream', 'The provider sent a tool call without a name.');
      this.completeArguments(wire, content.arguments, out);
    }
  }

  hasCalls(): boolean {
    return this.#callIds.size > 0;
  }

  hasRefusal(): boolean {
    return this.#refused;
  }
}
