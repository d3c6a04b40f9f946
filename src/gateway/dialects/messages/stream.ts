import type { AssistantPart } from '../../../inference/model.ts';
import { writeEvent } from '../dialect.ts';
import type { FrameWriter, Moment, Wire } from '../dialect.ts';
import { packProof } from '../proof.ts';
import type { ReplyEvent } from '../../sequence.ts';
import { buildMessagesError } from './error.ts';
import { buildBlock, buildUsage, decideStop, messageId } from './reply.ts';

const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

function write(type: string, fields: Wire): string {
  return writeEvent(type, { type, ...fields });
}

/** A block before its first delta; undefined while it cannot be told which kind it is. */
function openBlock(part: AssistantPart): Wire | undefined {
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

function buildDelta(part: AssistantPart, text: string): Wire {
  if (part.type === 'tool_call') return { type: 'input_json_delta', partial_json: text };
  return part.type === 'reasoning' ? { type: 'thinking_delta', thinking: text } : { type: 'text_delta', text };
}

export function openMessagesFrames(moment: Moment): FrameWriter {
  /** a thinking block whose start is still to be written: without any text it may be a redacted one */
  let held = false;

  const start = (index: number, content_block: Wire): string => write('content_block_start', { index, content_block });
  const delta = (index: number, fields: Wire): string => write('content_block_delta', { index, delta: fields });

  function close({ index, part }: Extract<ReplyEvent, { type: 'close' }>): string {
    let text = '';
    if (held && part.type === 'reasoning' && part.redacted !== undefined) {
      text = start(index, buildBlock(part));
    } else if (part.type === 'reasoning') {
      if (held) text = start(index, { type: 'thinking', thinking: '', signature: '' });
      const signature = packProof(part);
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
              id: messageId(moment),
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
          const block = openBlock(event.part);
          held = block === undefined;
          return block === undefined ? '' : start(event.index, block);
        }
        case 'delta': {
          const head = held ? start(event.index, { type: 'thinking', thinking: '', signature: '' }) : '';
          held = false;
          return head + delta(event.index, buildDelta(event.part, event.text));
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
    fail: (fault) => writeEvent('error', buildMessagesError(fault, moment.requestId)),
  };
}
