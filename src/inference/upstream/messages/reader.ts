import { newId } from '../../../platform/ids.ts';
import { buildUpstreamError } from '../../upstream-error.ts';
import { ModelError } from '../../model.ts';
import { readBlockCitation } from '../../citations.ts';
import type { Citation, FinishReason, ModelDelta } from '../../model.ts';
import type { DeltaReader, SseEvent, UpstreamTarget } from '../dialect.ts';
import { asList, asText, asObject, cutOff, decideFinish, parseObject } from '../wire.ts';
import type { JsonObject } from '../wire.ts';
import { buildUsageCount } from './usage.ts';

const FINISH: Record<string, FinishReason> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'refusal',
};

/** One content block of the upstream; `part` is -1 while it has no content. */
type OpenBlock = {
  kind: string;
  part: number;
  wroteArguments: boolean;
  input: string;
  signature: string;
  /** citations before the block has any text */
  early: Citation[];
};

/** Reads one reply of a messages upstream. */
class MessagesReader implements DeltaReader {
  readonly #target: UpstreamTarget;
  readonly #blocks = new Map<number, OpenBlock>();
  readonly #usage = buildUsageCount();
  readonly #callIds = new Set<string>();
  #parts = 0;
  #started = false;
  #finish: FinishReason | undefined;
  #stopSequence = '';

  constructor(target: UpstreamTarget) {
    this.#target = target;
  }

  #partOf(block: OpenBlock): number {
    if (block.part === -1) block.part = this.#parts++;
    return block.part;
  }

  #start(message: JsonObject, out: ModelDelta[]): void {
    this.#usage.add(message.usage);
    if (this.#started) return;
    this.#started = true;
    const counted = asObject(message.usage) === undefined ? {} : { usage: this.#usage.total() };
    out.push({ type: 'start', id: asText(message.id) || newId('req'), model: this.#target.name, ...counted });
    // A message may start with content, and a reply that is not streamed contains all of it.
    asList(message.content).forEach((item, index) => {
      this.#openBlock(-1 - index, asObject(item) ?? {}, out);
      this.#closeBlock(-1 - index, out);
    });
    this.#stop(message);
  }

  #openBlock(index: number, content: JsonObject, out: ModelDelta[]): void {
    this.#closeBlock(index, out);
    const kind = asText(content.type);
    const block: OpenBlock = { ...EMPTY, early: [], kind, signature: asText(content.signature) };
    this.#blocks.set(index, block);
    if (kind === 'text') {
      this.#pushText(block, asText(content.text), out);
      for (const citation of asList(content.citations)) this.#pushCitation(block, citation, out);
    }
    if (kind === 'thinking') this.#pushThinking(block, asText(content.thinking), out);
    else if (kind === 'redacted_thinking') {
      out.push({
        type: 'reasoning_signature',
        index: this.#partOf(block),
        redacted: asText(content.data),
        issuer: this.#target.name,
      });
    } else if (kind === 'tool_use') this.#openCall(block, content, out);
  }

  #openCall(block: OpenBlock, content: JsonObject, out: ModelDelta[]): void {
    const name = asText(content.name);
    if (name === '') throw new ModelError('upstream', 'The provider sent a tool call without a name.');
    const upstreamId = asText(content.id).trim();
    const id = upstreamId === '' || this.#callIds.has(upstreamId) ? newId('cal') : upstreamId;
    this.#callIds.add(id);
    // An initial input counts only if no deltas follow; by the specification it is always {}.
    const input = typeof content.input === 'string' ? content.input : JSON.stringify(content.input ?? {});
    block.input = input === '{}' ? '' : input;
    out.push({ type: 'tool_call', index: this.#partOf(block), id, name });
  }

  #closeBlock(index: number, out: ModelDelta[]): void {
    const block = this.#blocks.get(index);
    if (block === undefined) return;
    this.#blocks.delete(index);
    if (block.kind === 'tool_use' && !block.wroteArguments && block.input !== '') {
      out.push({ type: 'tool_arguments', index: block.part, text: block.input });
    }
    if (block.signature !== '') {
      out.push({
        type: 'reasoning_signature',
        index: this.#partOf(block),
        signature: block.signature,
        issuer: this.#target.name,
      });
    }
  }

  #pushText(block: OpenBlock, text: string, out: ModelDelta[]): void {
    if (text === '') return;
    out.push({ type: 'text', index: this.#partOf(block), text });
    // The upstream sends citations before the text that they belong to.
    for (const citation of block.early.splice(0)) out.push({ type: 'citation', index: block.part, citation });
  }

  #pushCitation(block: OpenBlock, value: unknown, out: ModelDelta[]): void {
    const citation = readBlockCitation(value);
    if (citation !== undefined && block.part !== -1) out.push({ type: 'citation', index: block.part, citation });
    else if (citation !== undefined) block.early.push(citation);
  }

  #pushThinking(block: OpenBlock, text: string, out: ModelDelta[]): void {
    if (text !== '') out.push({ type: 'reasoning', index: this.#partOf(block), text });
  }

  #pushDelta(index: number, delta: JsonObject, out: ModelDelta[]): void {
    let block = this.#blocks.get(index);
    switch (delta.type) {
      case 'text_delta':
        // Some upstreams omit the start of a text block.
        if (block === undefined) this.#blocks.set(index, (block = { ...EMPTY, early: [], kind: 'text' }));
        return this.#pushText(block, asText(delta.text), out);
      case 'citations_delta':
        if (block !== undefined) this.#pushCitation(block, delta.citation, out);
        return;
      case 'thinking_delta':
        if (block === undefined) this.#blocks.set(index, (block = { ...EMPTY, early: [], kind: 'thinking' }));
        return this.#pushThinking(block, asText(delta.thinking), out);
      case 'signature_delta':
        if (block !== undefined) block.signature += asText(delta.signature);
        return;
      case 'input_json_delta': {
        const text = asText(delta.partial_json);
        if (text === '' || block?.kind !== 'tool_use') return;
        block.wroteArguments = true;
        out.push({ type: 'tool_arguments', index: block.part, text });
      }
    }
  }

  #stop(source: JsonObject): void {
    const reason = asText(source.stop_reason);
    if (reason !== '') this.#finish = FINISH[reason] ?? 'stop';
    this.#stopSequence = asText(source.stop_sequence) || this.#stopSequence;
  }

  end(out: ModelDelta[]): void {
    if (this.#finish === undefined) throw cutOff();
    for (const index of this.#blocks.keys()) this.#closeBlock(index, out);
    out.push({
      type: 'finish',
      reason: decideFinish(this.#finish, this.#callIds.size > 0, false),
      ...(this.#stopSequence === '' ? {} : { stopSequence: this.#stopSequence }),
      usage: this.#usage.total(),
    });
  }

  push({ event, data }: SseEvent, out: ModelDelta[]): boolean {
    if (data === '' || data === '[DONE]') return false;
    const wire = parseObject(data);
    const index = typeof wire.index === 'number' ? wire.index : 0;
    switch (wire.type ?? event) {
      case 'message_start':
        this.#start(asObject(wire.message) ?? {}, out);
        return false;
      case 'content_block_start':
        this.#openBlock(index, asObject(wire.content_block) ?? {}, out);
        return false;
      case 'content_block_delta':
        this.#pushDelta(index, asObject(wire.delta) ?? {}, out);
        return false;
      case 'content_block_stop':
        this.#closeBlock(index, out);
        return false;
      case 'message_delta':
        this.#stop(asObject(wire.delta) ?? {});
        this.#usage.add(wire.usage);
        return false;
      case 'message_stop':
        this.end(out);
        return true;
      case 'message':
        this.#start(wire, out);
        this.end(out);
        return true;
      default:
        if (wire.type === 'error' || wire.error !== undefined || event === 'error')
          throw buildUpstreamError(wire, this.#target);
        // Ignores `ping` and unknown event types; an object without a type is an error.
        if (wire.type === undefined) throw buildUpstreamError(wire, this.#target);
        return false;
    }
  }
}

export function buildMessagesReader(target: UpstreamTarget): DeltaReader {
  return new MessagesReader(target);
}

const EMPTY = { kind: '', part: -1, wroteArguments: false, input: '', signature: '' };
