import { newId } from '../../../platform/ids.ts';
import { buildUpstreamError } from '../../upstream-error.ts';
import type { FinishReason, ModelDelta, ModelUsage } from '../../model.ts';
import type { DeltaReader, UpstreamTarget } from '../dialect.ts';
import { NO_USAGE, asList, asText, asWire, cutOff, decideFinish, parseWire } from '../wire.ts';
import type { Wire } from '../wire.ts';
import { buildCallAssembler } from './calls.ts';
import { buildReasoningReader } from './reasoning.ts';
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

export function buildChatReader(target: UpstreamTarget): DeltaReader {
  let started = false;
  let finish: FinishReason | undefined;
  let usage: ModelUsage = NO_USAGE;
  let parts = 0;
  let open: Kind = 'none';
  let openIndex = -1;
  let refused = false;
  const tags = buildThinkTags();
  const reasoning = buildReasoningReader(target.name);
  const calls = buildCallAssembler(() => parts++);

  /** The part of this kind that is open, or a new one; whatever else was open ends. */
  function enter(kind: Kind, out: ModelDelta[]): number {
    if (open === kind) return openIndex;
    if (open === 'reasoning') reasoning.close(openIndex, out);
    open = kind;
    if (kind !== 'none') openIndex = parts++;
    return openIndex;
  }

  function pushTagged(pieces: { kind: 'text' | 'reasoning'; text: string }[], out: ModelDelta[]): void {
    for (const { kind, text } of pieces) out.push({ type: kind, index: enter(kind, out), text });
  }

  function pushText(text: string, out: ModelDelta[]): void {
    if (text !== '') pushTagged(tags.push(text), out);
  }

  function pushReasoning(text: string, out: ModelDelta[]): void {
    const index = enter('reasoning', out);
    if (text !== '') out.push({ type: 'reasoning', index, text });
  }

  /** Text, or a list of typed chunks as some upstreams send it. */
  function pushContent(content: unknown, out: ModelDelta[]): void {
    if (typeof content === 'string') return pushText(content, out);
    for (const item of asList(content)) {
      const part = asWire(item);
      if (part?.type === 'thinking') {
        const inner = asList(part.thinking)
          .map((each) => asText(asWire(each)?.text))
          .join('');
        pushReasoning(asText(part.thinking) || inner, out);
      } else {
        pushText(asText(part?.text), out);
      }
    }
  }

  function pushDelta(delta: Wire, out: ModelDelta[]): void {
    const thought = reasoning.read(delta);
    if (thought !== undefined) pushReasoning(thought, out);
    if (delta.content !== undefined && delta.content !== null) pushContent(delta.content, out);
    const refusal = asText(delta.refusal);
    if (refusal !== '') {
      refused = true;
      out.push({ type: 'refusal', index: enter('refusal', out), text: refusal });
    }
    const legacy = asWire(delta.function_call);
    const toolCalls = legacy === undefined ? asList(delta.tool_calls) : [{ function: legacy }];
    if (toolCalls.length === 0) return;
    pushTagged(tags.flush(), out);
    enter('none', out);
    for (const call of toolCalls) calls.push(call, out);
  }

  function pushChunk(chunk: Wire, out: ModelDelta[]): void {
    if (chunk.error !== undefined && chunk.error !== null) throw buildUpstreamError(chunk, target);
    // A body that is neither a chunk nor a reply: an error in yet another shape.
    if (!Array.isArray(chunk.choices) && chunk.usage === undefined && !started) throw buildUpstreamError(chunk, target);
    if (!started) {
      started = true;
      const model = (target.relays === true && asText(chunk.model)) || target.name;
      out.push({ type: 'start', id: asText(chunk.id) || newId('req'), model });
    }
    usage = readChatUsage(chunk) ?? usage;
    const choice = asWire(asList(chunk.choices)[0]);
    if (choice === undefined || (typeof choice.index === 'number' && choice.index !== 0)) return;
    const delta = asWire(choice.delta) ?? asWire(choice.message);
    if (delta !== undefined) pushDelta(delta, out);
    const reason = asText(choice.finish_reason);
    if (reason === 'error') throw buildUpstreamError(choice, target);
    if (reason !== '') finish = FINISH[reason] ?? 'stop';
  }

  function end(out: ModelDelta[]): void {
    if (finish === undefined) throw cutOff();
    pushTagged(tags.flush(), out);
    enter('none', out);
    calls.end();
    out.push({ type: 'finish', reason: decideFinish(finish, calls.count() > 0, refused), usage });
  }

  return {
    push(event, out) {
      const { data } = event;
      if (data === '') return false;
      if (data === '[DONE]' || (data.length < 20 && data.trim() === '[DONE]')) {
        end(out);
        return true;
      }
      // An event named `error` need not have an `error` field.
      const chunk = parseWire(data);
      if (event.event === 'error') throw buildUpstreamError(chunk, target);
      pushChunk(chunk, out);
      return false;
    },
    end,
  };
}
