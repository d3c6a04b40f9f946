import type { WireFormat } from '../../../src/inference/config.ts';
import type { ModelReply } from '../../../src/inference/model.ts';
import { encodeChatStream, encodeChatWhole } from './encode-chat.ts';
import { encodeMessagesStream, encodeMessagesWhole } from './encode-messages.ts';
import { encodeResponsesStream, encodeResponsesWhole } from './encode-responses.ts';
import type { Wire, WireEvent } from './pieces.ts';

const STREAMS = {
  'chat-completions': encodeChatStream,
  messages: encodeMessagesStream,
  responses: encodeResponsesStream,
};
const WHOLES = { 'chat-completions': encodeChatWhole, messages: encodeMessagesWhole, responses: encodeResponsesWhole };

/** A reply as an upstream streams it; texts in pieces of `size` characters. */
export function encodeStream(format: WireFormat, reply: ModelReply, size = 12): WireEvent[] {
  return STREAMS[format](reply, size);
}

/** A reply as an upstream that does not stream sends it. */
export function encodeWhole(format: WireFormat, reply: ModelReply): Wire {
  return WHOLES[format](reply);
}

/** Events as bytes on the wire. */
export function encodeEvents(events: WireEvent[], newline = '\n'): string {
  return events
    .map(({ event, data }) => {
      const lines = data.split('\n').map((line) => `data: ${line}`);
      return [...(event === undefined ? [] : [`event: ${event}`]), ...lines, '', ''].join(newline);
    })
    .join('');
}
