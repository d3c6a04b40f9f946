import type { WireFormat } from '../../contract/config.ts';
import { buildChatRequest } from './chat-completions/request.ts';
import { buildChatReader, readChatStream } from './chat-completions/stream.ts';
import type { Dialect } from './dialect.ts';
import { buildMessagesRequest } from './messages/request.ts';
import { buildMessagesReader, readMessagesStream } from './messages/stream.ts';
import { buildResponsesRequest } from './responses/request.ts';
import { buildResponsesReader, readResponsesStream } from './responses/stream.ts';

export const DIALECTS: Record<WireFormat, Dialect> = {
  'chat-completions': { buildRequest: buildChatRequest, buildReader: buildChatReader, readStream: readChatStream },
  messages: { buildRequest: buildMessagesRequest, buildReader: buildMessagesReader, readStream: readMessagesStream },
  responses: {
    buildRequest: buildResponsesRequest,
    buildReader: buildResponsesReader,
    readStream: readResponsesStream,
  },
};
