import type { UpstreamFormat } from '../../../src/inference/config.ts';
import type { ModelReply } from '../../../src/inference/model.ts';
import { encodeChatStream, encodeChatWhole } from './encode-chat.ts';
import { encodeConverseStream, encodeConverseWhole, encodeFrames } from './encode-converse.ts';
import { encodeGenerateContentStream, encodeGenerateContentWhole } from './encode-generate-content.ts';
import { encodeMessagesStream, encodeMessagesWhole } from './encode-messages.ts';
import { encodeResponsesStream, encodeResponsesWhole } from './encode-responses.ts';
import type { Wire, WireEvent } from './pieces.ts';

const STREAMS = {
  'chat-completions': encodeChatStream,
  messages: encodeMessagesStream,
  responses: encodeResponsesStream,
  'generate-content': encodeGenerateContentStream,
  converse: encodeConverseStream,
};
const WHOLES = {
  'chat-completions': encodeChatWhole,
  messages: encodeMessagesWhole,
  responses: encodeResponsesWhole,
  'generate-content': encodeGenerateContentWhole,
  converse: encodeConverseWhole,
};

/** A reply as an upstream streams it; texts in pieces of `size` characters. */
export function encodeStream(format: UpstreamFormat, reply: ModelReply, size = 12): WireEvent[] {
  return STREAMS[format](reply, size);
}

/** A reply as an upstream that does not stream sends it. */
export function encodeWhole(format: UpstreamFormat, reply: ModelReply): Wire {
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

/** Events as bytes in the framing of the format. */
export function encodeBytes(
  format: UpstreamFormat,
  events: WireEvent[],
  { newline = '\n', head = '' }: { newline?: string; head?: string } = {},
): Buffer {
  return format === 'converse' ? encodeFrames(events) : Buffer.from(head + encodeEvents(events, newline));
}
