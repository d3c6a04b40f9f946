import { newId } from '../../../platform/ids.ts';
import { ModelError } from '../../model.ts';
import type { FinishReason, ModelDelta, ModelUsage } from '../../model.ts';
import { buildUpstreamError } from '../../upstream-error.ts';
import type { DeltaReader, SseEvent, UpstreamTarget } from '../dialect.ts';
import { NO_USAGE, asCount, asList, asObject, asText, cutOff, decideFinish, parseObject } from '../wire.ts';
import type { JsonObject } from '../wire.ts';

const FINISH: Record<string, FinishReason> = {
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  content_filtered: 'content_filter',
  guardrail_intervened: 'content_filter',
  refusal: 'refusal',
};

/** The model wrote what the provider could not parse; another try may succeed. */
const MALFORMED = new Set(['malformed_model_output', 'malformed_tool_use']);

/** `inputTokens` excludes cached tokens; ours include them. The format does not count reasoning. */
function readUsage(value: unknown): ModelUsage {
  const usage = asObject(value) ?? {};
  const cacheRead = asCount(usage.cacheReadInputTokens);
  const cacheWrite = asCount(usage.cacheWriteInputTokens);
  const input = asCount(usage.inputTokens) + cacheRead + cacheWrite;
  return { input, output: asCount(usage.outputTokens), cacheRead, cacheWrite, reasoning: 0 };
}

/** One content block; `part` is -1 while it has no content. */
type OpenBlock = { part: number; isCall: boolean; signature: string };

/** Reads one reply of a Converse upstream. */
class ConverseReader implements DeltaReader {
  readonly #target: UpstreamTarget;
  readonly #blocks = new Map<number, OpenBlock>();
  readonly #callIds = new Set<string>();
  #parts = 0;
  #started = false;
  #finish: FinishReason | undefined;
  #stopSequence = '';
  #usage: ModelUsage = NO_USAGE;

  constructor(target: UpstreamTarget) {
    this.#target = target;
  }

  #start(out: ModelDelta[]): void {
    if (this.#started) return;
    this.#started = true;
    out.push({ type: 'start', id: newId('req'), model: this.#target.name });
  }

  /** Text and reasoning begin without an event of their own. */
  #find(index: number): OpenBlock {
    let block = this.#blocks.get(index);
    if (block === undefined) this.#blocks.set(index, (block = { part: -1, isCall: false, signature: '' }));
    return block;
  }

  #partOf(block: OpenBlock): number {
    if (block.part === -1) block.part = this.#parts++;
    return block.part;
  }

  #openCall(index: number, call: JsonObject, out: ModelDelta[]): void {
    const name = asText(call.name);
    if (name === '') throw new ModelError('upstream', 'The provider sent a tool call without a name.');
    this.#close(index, out);
    const given = asText(call.toolUseId).trim();
    const id = given === '' || this.#callIds.has(given) ? newId('cal') : given;
    this.#callIds.add(id);
    const block = { part: this.#parts++, isCall: true, signature: '' };
    this.#blocks.set(index, block);
    out.push({ type: 'tool_call', index: block.part, id, name });
  }

  #pushReasoning(block: OpenBlock, content: JsonObject, out: ModelDelta[]): void {
    const text = asText(content.text);
    if (text !== '') out.push({ type: 'reasoning', index: this.#partOf(block), text });
    block.signature += asText(content.signature);
    const redacted = asText(content.redactedContent);
    if (redacted === '') return;
    // Each is a part of its own.
    const index = block.part === -1 ? this.#partOf(block) : this.#parts++;
    out.push({ type: 'reasoning_signature', index, redacted, issuer: this.#target.name });
  }

  #pushDelta(index: number, delta: JsonObject, out: ModelDelta[]): void {
    const block = this.#find(index);
    const text = asText(delta.text);
    if (text !== '') out.push({ type: 'text', index: this.#partOf(block), text });
    const reasoning = asObject(delta.reasoningContent);
    if (reasoning !== undefined) this.#pushReasoning(block, reasoning, out);
    const input = asText(asObject(delta.toolUse)?.input);
    if (input !== '' && block.isCall) out.push({ type: 'tool_arguments', index: block.part, text: input });
  }

  #close(index: number, out: ModelDelta[]): void {
    const block = this.#blocks.get(index);
    this.#blocks.delete(index);
    if (block === undefined || block.signature === '') return;
    const { signature } = block;
    out.push({ type: 'reasoning_signature', index: this.#partOf(block), signature, issuer: this.#target.name });
  }

  #stop(wire: JsonObject): void {
    const reason = asText(wire.stopReason);
    if (MALFORMED.has(reason)) throw new ModelError('upstream', 'The model wrote a malformed reply.');
    if (reason !== '') this.#finish = FINISH[reason] ?? 'stop';
    this.#stopSequence = asText(asObject(wire.additionalModelResponseFields)?.stop_sequence);
  }

  /** A block of a reply that is not streamed. */
  #pushWhole(index: number, block: JsonObject, out: ModelDelta[]): void {
    const call = asObject(block.toolUse);
    if (call !== undefined) {
      this.#openCall(index, call, out);
      this.#pushDelta(index, { toolUse: { input: JSON.stringify(call.input ?? {}) } }, out);
    } else {
      const reasoning = asObject(block.reasoningContent);
      const inner = asObject(reasoning?.reasoningText);
      this.#pushDelta(index, reasoning === undefined ? block : { reasoningContent: { ...reasoning, ...inner } }, out);
    }
    this.#close(index, out);
  }

  #pushReply(wire: JsonObject, out: ModelDelta[]): void {
    const message = asObject(asObject(wire.output)?.message);
    if (message === undefined) throw buildUpstreamError(wire, this.#target);
    this.#start(out);
    asList(message.content).forEach((block, index) => this.#pushWhole(index, asObject(block) ?? {}, out));
    this.#usage = readUsage(wire.usage);
    this.#stop(wire);
  }

  end(out: ModelDelta[]): void {
    if (this.#finish === undefined) throw cutOff();
    for (const index of this.#blocks.keys()) this.#close(index, out);
    out.push({
      type: 'finish',
      reason: decideFinish(this.#finish, this.#callIds.size > 0, false),
      ...(this.#stopSequence === '' ? {} : { stopSequence: this.#stopSequence }),
      usage: this.#usage,
    });
  }

  push({ event, data }: SseEvent, out: ModelDelta[]): boolean {
    const wire = parseObject(data);
    const index = typeof wire.contentBlockIndex === 'number' ? wire.contentBlockIndex : 0;
    switch (event) {
      case 'error':
        throw buildUpstreamError(wire, this.#target);
      case 'messageStart':
        this.#start(out);
        return false;
      case 'contentBlockStart': {
        const call = asObject(asObject(wire.start)?.toolUse);
        if (call !== undefined) this.#openCall(index, call, out);
        return false;
      }
      case 'contentBlockDelta':
        this.#pushDelta(index, asObject(wire.delta) ?? {}, out);
        return false;
      case 'contentBlockStop':
        this.#close(index, out);
        return false;
      case 'messageStop':
        this.#stop(wire);
        return false;
      case 'metadata':
        // The last event, after `messageStop`.
        this.#usage = readUsage(wire.usage);
        this.end(out);
        return true;
      case undefined:
        this.#pushReply(wire, out);
        this.end(out);
        return true;
      default:
        return false;
    }
  }
}

export function buildConverseReader(target: UpstreamTarget): DeltaReader {
  return new ConverseReader(target);
}
