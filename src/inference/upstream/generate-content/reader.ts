import { newId } from '../../../platform/ids.ts';
import { ModelError } from '../../model.ts';
import type { FinishReason, ModelDelta, ModelUsage } from '../../model.ts';
import { buildUpstreamError } from '../../upstream-error.ts';
import type { DeltaReader, SseEvent, UpstreamTarget } from '../dialect.ts';
import { NO_USAGE, asList, asObject, asText, cutOff, decideFinish, parseObjects } from '../wire.ts';
import type { JsonObject } from '../wire.ts';
import { nameSignature } from './signature.ts';
import type { SignedPart } from './signature.ts';
import { readUsage } from './usage.ts';

const FINISH: Record<string, FinishReason> = {
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  LANGUAGE: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
};

/** The model wrote what the provider could not parse; another try may succeed. */
const MALFORMED = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'TOO_MANY_TOOL_CALLS',
  'MALFORMED_RESPONSE',
]);

/** A chunk has at least one of them. */
const FIELDS = ['candidates', 'promptFeedback', 'usageMetadata'];

type Kind = 'none' | 'text' | 'reasoning';

/** Reads one reply of a `generateContent` upstream. */
class GenerateContentReader implements DeltaReader {
  readonly #target: UpstreamTarget;
  readonly #callIds = new Set<string>();
  #started = false;
  #finish: FinishReason | undefined;
  #usage: ModelUsage = NO_USAGE;
  #parts = 0;
  #open: Kind = 'none';
  #openIndex = -1;

  constructor(target: UpstreamTarget) {
    this.#target = target;
  }

  #enter(kind: 'text' | 'reasoning'): number {
    if (this.#open !== kind) {
      this.#open = kind;
      this.#openIndex = this.#parts++;
    }
    return this.#openIndex;
  }

  /** Signs the open reasoning; a signature of any other part becomes a reasoning part without text. */
  #pushSignature(part: SignedPart, value: unknown, out: ModelDelta[]): void {
    const signature = asText(value);
    if (signature === '') return;
    const index = this.#open === 'reasoning' ? this.#openIndex : this.#parts++;
    this.#open = 'none';
    const named = nameSignature(part, signature);
    out.push({ type: 'reasoning_signature', index, signature: named, issuer: this.#target.name });
  }

  #pushCall(call: JsonObject, signature: unknown, out: ModelDelta[]): void {
    const name = asText(call.name);
    if (name === '') throw new ModelError('upstream', 'The provider sent a tool call without a name.');
    this.#pushSignature(`call-${this.#callIds.size}`, signature, out);
    this.#open = 'none';
    const given = asText(call.id).trim();
    const id = given === '' || this.#callIds.has(given) ? newId('cal') : given;
    this.#callIds.add(id);
    const index = this.#parts++;
    out.push({ type: 'tool_call', index, id, name });
    const args = asObject(call.args);
    if (args !== undefined) out.push({ type: 'tool_arguments', index, text: JSON.stringify(args) });
  }

  #pushPart(part: JsonObject, out: ModelDelta[]): void {
    const call = asObject(part.functionCall);
    if (call !== undefined) return this.#pushCall(call, part.thoughtSignature, out);
    const text = asText(part.text);
    const kind = part.thought === true ? 'reasoning' : 'text';
    if (text !== '') out.push({ type: kind, index: this.#enter(kind), text });
    this.#pushSignature(kind === 'reasoning' ? 'thought' : 'text', part.thoughtSignature, out);
  }

  #start(chunk: JsonObject, out: ModelDelta[]): void {
    if (this.#started) return;
    this.#started = true;
    const counted = chunk.usageMetadata === undefined ? {} : { usage: this.#usage };
    out.push({ type: 'start', id: asText(chunk.responseId) || newId('req'), model: this.#target.name, ...counted });
  }

  #pushCandidate(candidate: JsonObject, out: ModelDelta[]): void {
    for (const part of asList(asObject(candidate.content)?.parts)) this.#pushPart(asObject(part) ?? {}, out);
    const reason = asText(candidate.finishReason);
    if (MALFORMED.has(reason)) throw new ModelError('upstream', 'The model wrote a malformed tool call.');
    if (reason !== '' && reason !== 'FINISH_REASON_UNSPECIFIED') this.#finish = FINISH[reason] ?? 'stop';
  }

  #pushChunk(chunk: JsonObject, out: ModelDelta[]): void {
    if (chunk.error !== undefined && chunk.error !== null) throw buildUpstreamError(chunk, this.#target);
    // Neither a chunk nor a reply: an error of an unknown shape.
    if (!this.#started && FIELDS.every((name) => chunk[name] === undefined))
      throw buildUpstreamError(chunk, this.#target);
    this.#usage = readUsage(chunk.usageMetadata) ?? this.#usage;
    this.#start(chunk, out);
    if (asText(asObject(chunk.promptFeedback)?.blockReason) !== '') this.#finish = 'content_filter';
    const candidate = asObject(asList(chunk.candidates)[0]);
    if (candidate !== undefined) this.#pushCandidate(candidate, out);
  }

  end(out: ModelDelta[]): void {
    if (this.#finish === undefined) throw cutOff();
    const reason = decideFinish(this.#finish, this.#callIds.size > 0, false);
    out.push({ type: 'finish', reason, usage: this.#usage });
  }

  /** The format has no last event: the reply ends with its stream. */
  push({ event, data }: SseEvent, out: ModelDelta[]): boolean {
    if (data === '' || data === '[DONE]') return false;
    for (const chunk of parseObjects(data)) {
      if (event === 'error') throw buildUpstreamError(chunk, this.#target);
      this.#pushChunk(chunk, out);
    }
    return false;
  }
}

export function buildGenerateContentReader(target: UpstreamTarget): DeltaReader {
  return new GenerateContentReader(target);
}
