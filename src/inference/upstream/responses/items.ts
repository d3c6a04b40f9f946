import { newId } from '../../../platform/ids.ts';
import { ModelError } from '../../model.ts';
import type { ModelDelta } from '../../model.ts';
import { asArguments, asList, asText, asWire } from '../wire.ts';
import type { Wire } from '../wire.ts';

type Shown = { part: number; length: number };
type Item = {
  call: Shown | undefined;
  reasoning: Map<string, Shown>;
  texts: Map<number, Shown>;
  refusals: Map<number, Shown>;
  done: boolean;
};

/**
 * The output items of one response, by position. What the deltas did not say is taken from the item's end, and what
 * that did not say from the end of the response: upstreams leave out any of the three.
 */
export function buildItemLog(issuer: string) {
  const items = new Map<string, Item>();
  const callIds = new Set<string>();
  let parts = 0;
  let refused = false;

  /** Ids of items change between the events of some upstreams; the position does not. */
  function find(wire: Wire): Item {
    const key = typeof wire.output_index === 'number' ? `${wire.output_index}` : asText(wire.item_id) || '0';
    let item = items.get(key);
    if (item === undefined) {
      item = { call: undefined, reasoning: new Map(), texts: new Map(), refusals: new Map(), done: false };
      items.set(key, item);
    }
    return item;
  }

  function shownAt<K>(map: Map<K, Shown>, key: K): Shown {
    let shown = map.get(key);
    if (shown === undefined) map.set(key, (shown = { part: parts++, length: 0 }));
    return shown;
  }

  function pushText(wire: Wire, text: string, out: ModelDelta[]): void {
    if (text === '') return;
    const shown = shownAt(find(wire).texts, Number(wire.content_index ?? 0));
    shown.length += text.length;
    out.push({ type: 'text', index: shown.part, text });
  }

  function pushRefusal(wire: Wire, text: string, out: ModelDelta[]): void {
    if (text === '') return;
    refused = true;
    const shown = shownAt(find(wire).refusals, Number(wire.content_index ?? 0));
    shown.length += text.length;
    out.push({ type: 'refusal', index: shown.part, text });
  }

  /** Several summaries of one item become one part, a blank line between them. */
  function pushReasoning(wire: Wire, text: string, out: ModelDelta[]): void {
    if (text === '') return;
    const summary = wire.summary_index !== undefined;
    const { reasoning } = find(wire);
    const key = summary ? `s${Number(wire.summary_index)}` : 'c';
    let shown = reasoning.get(key);
    if (shown === undefined) {
      const before = summary ? [...reasoning].find(([name]) => name.startsWith('s'))?.[1] : undefined;
      shown = { part: before?.part ?? parts++, length: 0 };
      reasoning.set(key, shown);
      if (before !== undefined) out.push({ type: 'reasoning', index: shown.part, text: '\n\n', summary });
    }
    shown.length += text.length;
    out.push({ type: 'reasoning', index: shown.part, text, ...(summary ? { summary } : {}) });
  }

  function openCall(wire: Wire, content: Wire, out: ModelDelta[]): void {
    const item = find(wire);
    const name = asText(content.name);
    if (item.call !== undefined || name === '') return;
    const upstreamId = asText(content.call_id).trim();
    const id = upstreamId === '' || callIds.has(upstreamId) ? newId('cal') : upstreamId;
    callIds.add(id);
    item.call = { part: parts++, length: 0 };
    out.push({ type: 'tool_call', index: item.call.part, id, name });
  }

  /** Argument deltas name the item, never the call. Those that come ahead of their call wait for the item's end. */
  function pushArguments(wire: Wire, text: string, out: ModelDelta[]): void {
    const { call } = find(wire);
    if (call === undefined || text === '') return;
    call.length += text.length;
    out.push({ type: 'tool_arguments', index: call.part, text });
  }

  /** The whole text of something of which `shown` is out already. */
  function rest(shown: Shown | undefined, whole: string): string {
    return whole.slice(shown?.length ?? 0);
  }

  function completeArguments(wire: Wire, value: unknown, out: ModelDelta[]): void {
    pushArguments(wire, rest(find(wire).call, asArguments(value)), out);
  }

  function completeReasoning(wire: Wire, content: Wire, out: ModelDelta[]): void {
    const item = find(wire);
    asList(content.summary).forEach((each, index) => {
      const text = rest(item.reasoning.get(`s${index}`), asText(asWire(each)?.text));
      pushReasoning({ ...wire, summary_index: index }, text, out);
    });
    const whole = asList(content.content)
      .map((each) => asText(asWire(each)?.text))
      .join('');
    pushReasoning({ ...wire, summary_index: undefined }, rest(item.reasoning.get('c'), whole), out);
    const encrypted = asText(content.encrypted_content);
    if (encrypted === '') return;
    const part = [...item.reasoning.values()].at(-1)?.part ?? parts++;
    out.push({ type: 'reasoning_proof', index: part, encrypted, issuer });
  }

  function completeMessage(wire: Wire, content: Wire, out: ModelDelta[]): void {
    const item = find(wire);
    asList(content.content).forEach((each, index) => {
      const part = asWire(each);
      const place = { ...wire, content_index: index };
      if (part?.type === 'refusal') pushRefusal(place, rest(item.refusals.get(index), asText(part.refusal)), out);
      else pushText(place, rest(item.texts.get(index), asText(part?.text)), out);
    });
  }

  return {
    pushText,
    pushRefusal,
    pushReasoning,
    pushArguments,
    completeArguments,
    open(wire: Wire, content: Wire, out: ModelDelta[]): void {
      if (content.type === 'function_call') openCall(wire, content, out);
    },
    complete(wire: Wire, content: Wire, out: ModelDelta[]): void {
      const item = find(wire);
      if (item.done) return;
      item.done = true;
      if (content.type === 'reasoning') completeReasoning(wire, content, out);
      else if (content.type === 'message') completeMessage(wire, content, out);
      else if (content.type === 'function_call') {
        openCall(wire, content, out);
        if (item.call === undefined) throw new ModelError('upstream', 'The provider sent a tool call without a name.');
        completeArguments(wire, content.arguments, out);
      }
    },
    hasCalls: () => callIds.size > 0,
    hasRefusal: () => refused,
  };
}
