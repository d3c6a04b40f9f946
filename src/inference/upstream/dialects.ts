import type { WireFormat } from '../../contract/config.ts';
import { buildChatRequest } from './chat-completions/request.ts';
import { readChatStream } from './chat-completions/stream.ts';
import type { Dialect } from './dialect.ts';
import { buildMessagesRequest } from './messages/request.ts';
import { readMessagesStream } from './messages/stream.ts';
import { buildResponsesRequest } from './responses/request.ts';
import { readResponsesStream } from './responses/stream.ts';

export const DIALECTS: Record<WireFormat, Dialect> = {
  'chat-completions': { buildRequest: buildChatRequest, readStream: readChatStream },
  messages: { buildRequest: buildMessagesRequest, readStream: readMessagesStream },
  responses: { buildRequest: buildResponsesRequest, readStream: readResponsesStream },
};
