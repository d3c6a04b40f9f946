import { newId } from '../../../platform/ids.ts';
import { buildUpstreamError } from '../../upstream-error.ts';
import { ModelError } from '../../model.ts';
import type { FinishReason, ModelDelta } from '../../model.ts';
import type { DeltaReader, UpstreamTarget } from '../dialect.ts';
import { asList, asText, asWire, cutOff, decideFinish, parseWire } from '../wire.ts';
import type { Wire } from '../wire.ts';
import { buildUsageCount } from './usage.ts';

const FINISH: Record<string, FinishReason> = {
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'refusal',
};

/** One content block of the upstream; `part` is -1 until it shows anything. */
type OpenBlock = { kind: string; part: number; wroteArguments: boolean; input: string; signature: string };

export function buildMessagesReader(target: UpstreamTarget): DeltaReader {
  const issuer = target.name;
  const blocks = new Map<number, OpenBlock>();
  const usage = buildUsageCount();
  const callIds = new Set<string>();
  let parts = 0;
  let started = false;
  let finish: FinishReason | undefined;
  let stopSequence = '';

  function partOf(block: OpenBlock): number {
    if (block.part === -1) block.part = parts++;
    return block.part;
  }

  function start(message: Wire, out: ModelDelta[]): void {
    usage.add(message.usage);
    if (started) return;
    started = true;
    const counted = asWire(message.usage) === undefined ? {} : { usage: usage.total() };
    out.push({ type: 'start', id: asText(message.id) || newId('req'), model: target.name, ...counted });
    // A message may come with content already in it, and a whole reply comes with all of it.
    asList(message.content).forEach((item, index) => {
      openBlock(-1 - index, asWire(item) ?? {}, out);
      closeBlock(-1 - index, out);
    });
    stop(message);
  }

  function openBlock(index: number, content: Wire, out: ModelDelta[]): void {
    closeBlock(index, out);
    const kind = asText(content.type);
    const block: OpenBlock = { kind, part: -1, wroteArguments: false, input: '', signature: asText(content.signature) };
    blocks.set(index, block);
    if (kind === 'text') pushText(block, asText(content.text), out);
    else if (kind === 'thinking') pushThinking(block, asText(content.thinking), out);
    else if (kind === 'redacted_thinking') {
      out.push({ type: 'reasoning_proof', index: partOf(block), redacted: asText(content.data), issuer });
    } else if (kind === 'tool_use') openCall(block, content, out);
  }

  function openCall(block: OpenBlock, content: Wire, out: ModelDelta[]): void {
    const name = asText(content.name);
    if (name === '') throw new ModelError('upstream', 'The provider sent a tool call without a name.');
    const upstreamId = asText(content.id).trim();
    const id = upstreamId === '' || callIds.has(upstreamId) ? newId('cal') : upstreamId;
    callIds.add(id);
    // Input that is here already counts only if no deltas follow; by the letter it is always {}.
    const input = typeof content.input === 'string' ? content.input : JSON.stringify(content.input ?? {});
    block.input = input === '{}' ? '' : input;
    out.push({ type: 'tool_call', index: partOf(block), id, name });
  }

  function closeBlock(index: number, out: ModelDelta[]): void {
    const block = blocks.get(index);
    if (block === undefined) return;
    blocks.delete(index);
    if (block.kind === 'tool_use' && !block.wroteArguments && block.input !== '') {
      out.push({ type: 'tool_arguments', index: block.part, text: block.input });
    }
    if (block.signature !== '') {
      out.push({ type: 'reasoning_proof', index: partOf(block), signature: block.signature, issuer });
    }
  }

  function pushText(block: OpenBlock, text: string, out: ModelDelta[]): void {
    if (text !== '') out.push({ type: 'text', index: partOf(block), text });
  }

  function pushThinking(block: OpenBlock, text: string, out: ModelDelta[]): void {
    if (text !== '') out.push({ type: 'reasoning', index: partOf(block), text });
  }

  function pushDelta(index: number, delta: Wire, out: ModelDelta[]): void {
    let block = blocks.get(index);
    switch (delta.type) {
      case 'text_delta':
        // Some upstreams leave the start of a text block out.
        if (block === undefined) blocks.set(index, (block = { ...EMPTY, kind: 'text' }));
        return pushText(block, asText(delta.text), out);
      case 'thinking_delta':
        if (block === undefined) blocks.set(index, (block = { ...EMPTY, kind: 'thinking' }));
        return pushThinking(block, asText(delta.thinking), out);
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

  function stop(source: Wire): void {
    const reason = asText(source.stop_reason);
    if (reason !== '') finish = FINISH[reason] ?? 'stop';
    stopSequence = asText(source.stop_sequence) || stopSequence;
  }

  function end(out: ModelDelta[]): void {
    if (finish === undefined) throw cutOff();
    for (const index of blocks.keys()) closeBlock(index, out);
    out.push({
      type: 'finish',
      reason: decideFinish(finish, callIds.size > 0, false),
      ...(stopSequence === '' ? {} : { stopSequence }),
      usage: usage.total(),
    });
  }

  return {
    push({ event, data }, out) {
      if (data === '' || data === '[DONE]') return false;
      const wire = parseWire(data);
      const index = typeof wire.index === 'number' ? wire.index : 0;
      switch (wire.type ?? event) {
        case 'message_start':
          start(asWire(wire.message) ?? {}, out);
          return false;
        case 'content_block_start':
          openBlock(index, asWire(wire.content_block) ?? {}, out);
          return false;
        case 'content_block_delta':
          pushDelta(index, asWire(wire.delta) ?? {}, out);
          return false;
        case 'content_block_stop':
          closeBlock(index, out);
          return false;
        case 'message_delta':
          stop(asWire(wire.delta) ?? {});
          usage.add(wire.usage);
          return false;
        case 'message_stop':
          end(out);
          return true;
        case 'message':
          start(wire, out);
          end(out);
          return true;
        default:
          if (wire.type === 'error' || wire.error !== undefined || event === 'error')
            throw buildUpstreamError(wire, target);
          // `ping`, and whatever kinds of event are yet to come; a bare object is neither.
          if (wire.type === undefined) throw buildUpstreamError(wire, target);
          return false;
      }
    },
    end,
  };
}

const EMPTY: OpenBlock = { kind: '', part: -1, wroteArguments: false, input: '', signature: '' };
