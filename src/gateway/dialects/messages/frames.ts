import type { AssistantPart } from '../../../inference/model.ts';
import { writeEvent } from '../dialect.ts';
import type { FrameWriter, ResponseMeta, JsonObject } from '../dialect.ts';
import { buildBlockCitation } from '../citations.ts';
import { packSignature } from '../signature.ts';
import type { ReplyEvent } from '../../sequence.ts';
import { buildMessagesError } from './error.ts';
import { buildBlock, buildUsage, decideStop, messageId } from './reply.ts';

const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

function write(type: string, fields: JsonObject): string {
  return writeEvent(type, { type, ...fields });
}

/** A block before its first delta; undefined while its type is not known yet. */
function buildEmptyBlock(part: AssistantPart): JsonObject | undefined {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: '' };
    case 'tool_call':
      return { type: 'tool_use', id: part.id, name: part.name, input: {} };
    case 'reasoning':
      return undefined;
  }
}

function buildDelta(part: AssistantPart, text: string): JsonObject {
  if (part.type === 'tool_call') return { type: 'input_json_delta', partial_json: text };
  return part.type === 'reasoning' ? { type: 'thinking_delta', thinking: text } : { type: 'text_delta', text };
}

export function buildMessagesFrames(meta: ResponseMeta): FrameWriter {
  /** whether the start of a thinking block is held back: a block without text may turn out to be redacted */
  let held = false;

  const start = (index: number, content_block: JsonObject): string =>
    write('content_block_start', { index, content_block });
  const delta = (index: number, fields: JsonObject): string => write('content_block_delta', { index, delta: fields });

  function close({ index, part }: Extract<ReplyEvent, { type: 'close' }>): string {
    let text = '';
    if (held && part.type === 'reasoning' && part.redacted !== undefined) {
      text = start(index, buildBlock(part));
    } else if (part.type === 'reasoning') {
      if (held) text = start(index, { type: 'thinking', thinking: '', signature: '' });
      const signature = packSignature(part);
      if (signature !== undefined) text += delta(index, { type: 'signature_delta', signature });
    }
    held = false;
    return text + write('content_block_stop', { index });
  }

  return {
    push(event) {
      switch (event.type) {
        case 'start':
          return write('message_start', {
            message: {
              id: messageId(meta),
              type: 'message',
              role: 'assistant',
              model: event.model,
              content: [],
              stop_reason: null,
              stop_sequence: null,
              usage: buildUsage(event.usage ?? NO_USAGE),
            },
          });
        case 'open': {
          const block = buildEmptyBlock(event.part);
          held = block === undefined;
          return block === undefined ? '' : start(event.index, block);
        }
        case 'delta': {
          const head = held ? start(event.index, { type: 'thinking', thinking: '', signature: '' }) : '';
          held = false;
          return head + delta(event.index, buildDelta(event.part, event.text));
        }
        case 'citation': {
          const citation = buildBlockCitation(event.citation, event.part);
          return citation === undefined ? '' : delta(event.index, { type: 'citations_delta', citation });
        }
        case 'close':
          return close(event);
        case 'finish':
          return (
            write('message_delta', { delta: decideStop(event.reply), usage: buildUsage(event.reply.usage) }) +
            write('message_stop', {})
          );
      }
    },
    fail: (fault) => writeEvent('error', buildMessagesError(fault, meta.requestId)),
  };
}
