import { newId } from '../../../platform/ids.ts';
import { readAnnotation, readSources } from '../../citations.ts';
import { buildUpstreamError } from '../../upstream-error.ts';
import type { Citation, FinishReason, ModelDelta, ModelUsage } from '../../model.ts';
import type { DeltaReader, SseEvent, UpstreamTarget } from '../dialect.ts';
import { NO_USAGE, asList, asText, asObject, cutOff, decideFinish, parseObject } from '../wire.ts';
import type { JsonObject } from '../wire.ts';
import { buildCallAssembler } from './calls.ts';
import { buildReasoningReader } from './reasoning.ts';
import type { ReasoningReader } from './reasoning.ts';
import { buildThinkTags } from './think-tags.ts';
import { readChatUsage } from './usage.ts';

const FINISH: Record<string, FinishReason> = {
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
};

type Kind = 'none' | 'text' | 'reasoning' | 'refusal';

/** Reads one reply of a chat completions upstream. */
class ChatReader implements DeltaReader {
  readonly #target: UpstreamTarget;
  #started = false;
  #finish: FinishReason | undefined;
  #usage: ModelUsage = NO_USAGE;
  #parts = 0;
  #open: Kind = 'none';
  #openIndex = -1;
  #refused = false;
  /** of the last text */
  #textIndex = -1;
  #cited = false;
  /** annotations before any text, and sources beside the choices */
  #early: Citation[] = [];
  #sources: Citation[] = [];
  readonly #tags = buildThinkTags();
  readonly #reasoning: ReasoningReader;
  readonly #calls = buildCallAssembler(() => this.#parts++);

  constructor(target: UpstreamTarget) {
    this.#target = target;
    this.#reasoning = buildReasoningReader(target.name);
  }

  /** The index of the open part of this kind, or of a new one; closes a part of another kind. */
  #enter(kind: Kind, out: ModelDelta[]): number {
    if (this.#open === kind) return this.#openIndex;
    if (this.#open === 'reasoning') this.#reasoning.close(this.#openIndex, out);
    this.#open = kind;
    if (kind !== 'none') this.#openIndex = this.#parts++;
    if (kind === 'text') this.#textIndex = this.#openIndex;
    return this.#openIndex;
  }

  #pushTagged(pieces: { kind: 'text' | 'reasoning'; text: string }[], out: ModelDelta[]): void {
    for (const { kind, text } of pieces) out.push({ type: kind, index: this.#enter(kind, out), text });
  }

  #pushText(text: string, out: ModelDelta[]): void {
    if (text !== '') this.#pushTagged(this.#tags.push(text), out);
  }

  #pushReasoning(text: string, out: ModelDelta[]): void {
    this.#pushTagged(this.#tags.flush(), out);
    const index = this.#enter('reasoning', out);
    if (text !== '') out.push({ type: 'reasoning', index, text });
  }

  /** Reads text, or a list of typed chunks, which some upstreams send. */
  #pushContent(content: unknown, out: ModelDelta[]): void {
    if (typeof content === 'string') return this.#pushText(content, out);
    for (const item of asList(content)) {
      const part = asObject(item);
      if (part?.type === 'thinking') {
        const inner = asList(part.thinking)
          .map((each) => asText(asObject(each)?.text))
          .join('');
        this.#pushReasoning(asText(part.thinking) || inner, out);
      } else {
        this.#pushText(asText(part?.text), out);
      }
    }
  }

  #pushCitations(citations: readonly Citation[], out: ModelDelta[]): void {
    for (const citation of citations) {
      this.#cited = true;
      if (this.#textIndex === -1) this.#early.push(citation);
      else out.push({ type: 'citation', index: this.#textIndex, citation });
    }
  }

  #pushAnnotations(value: unknown, out: ModelDelta[]): void {
    const citations = asList(value).flatMap((item) => readAnnotation('chat-completions', item) ?? []);
    if (citations.length === 0) return;
    // Held-back text would come after the parts that refer to it.
    this.#pushTagged(this.#tags.flush(), out);
    this.#pushCitations(citations, out);
  }

  #pushDelta(delta: JsonObject, out: ModelDelta[]): void {
    const thought = this.#reasoning.read(delta);
    if (thought !== undefined) this.#pushReasoning(thought, out);
    if (delta.content !== undefined && delta.content !== null) this.#pushContent(delta.content, out);
    this.#pushAnnotations(delta.annotations, out);
    const refusal = asText(delta.refusal);
    if (refusal !== '') {
      this.#refused = true;
      this.#pushTagged(this.#tags.flush(), out);
      out.push({ type: 'refusal', index: this.#enter('refusal', out), text: refusal });
    }
    const legacy = asObject(delta.function_call);
    const toolCalls = legacy === undefined ? asList(delta.tool_calls) : [{ function: legacy }];
    if (toolCalls.length === 0) return;
    this.#pushTagged(this.#tags.flush(), out);
    this.#enter('none', out);
    for (const call of toolCalls) this.#calls.push(call, out);
  }

  #start(chunk: JsonObject, out: ModelDelta[]): void {
    this.#started = true;
    const { relays, name } = this.#target;
    const model = (relays === true && asText(chunk.model)) || name;
    out.push({ type: 'start', id: asText(chunk.id) || newId('req'), model });
  }

  #pushChunk(chunk: JsonObject, out: ModelDelta[]): void {
    if (chunk.error !== undefined && chunk.error !== null) throw buildUpstreamError(chunk, this.#target);
    // Neither a chunk nor a reply: an error of an unknown shape.
    if (!Array.isArray(chunk.choices) && chunk.usage === undefined && !this.#started)
      throw buildUpstreamError(chunk, this.#target);
    if (!this.#started) this.#start(chunk, out);
    this.#usage = readChatUsage(chunk) ?? this.#usage;
    if (chunk.citations !== undefined || chunk.search_results !== undefined) this.#sources = readSources(chunk);
    const choice = asObject(asList(chunk.choices)[0]);
    if (choice === undefined || (typeof choice.index === 'number' && choice.index !== 0)) return;
    const delta = asObject(choice.delta) ?? asObject(choice.message);
    if (delta !== undefined) this.#pushDelta(delta, out);
    const reason = asText(choice.finish_reason);
    if (reason === 'error') throw buildUpstreamError(choice, this.#target);
    if (reason !== '') this.#finish = FINISH[reason] ?? 'stop';
  }

  end(out: ModelDelta[]): void {
    if (this.#finish === undefined) throw cutOff();
    this.#pushTagged(this.#tags.flush(), out);
    const late = this.#cited ? this.#early : this.#sources;
    if (this.#textIndex !== -1) this.#pushCitations(late, out);
    this.#enter('none', out);
    this.#calls.end();
    const reason = decideFinish(this.#finish, this.#calls.count() > 0, this.#refused);
    out.push({ type: 'finish', reason, usage: this.#usage });
  }

  push(event: SseEvent, out: ModelDelta[]): boolean {
    const { data } = event;
    if (data === '') return false;
    if (data === '[DONE]' || (data.length < 20 && data.trim() === '[DONE]')) {
      this.end(out);
      return true;
    }
    // An event named `error` may lack the field `error`.
    const chunk = parseObject(data);
    if (event.event === 'error') throw buildUpstreamError(chunk, this.#target);
    this.#pushChunk(chunk, out);
    return false;
  }
}

export function buildChatReader(target: UpstreamTarget): DeltaReader {
  return new ChatReader(target);
}
