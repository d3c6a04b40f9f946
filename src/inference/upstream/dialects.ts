import type { UpstreamFormat } from '../config.ts';
import { buildChatRequest } from './chat-completions/request.ts';
import { buildChatReader } from './chat-completions/reader.ts';
import type { Dialect } from './dialect.ts';
import { buildConverseReader } from './converse/reader.ts';
import { buildConverseCount, buildConverseRequest } from './converse/request.ts';
import { buildGenerateContentReader } from './generate-content/reader.ts';
import { MAX_STOPS, buildGenerateContentCount, buildGenerateContentRequest } from './generate-content/request.ts';
import { buildCountRequest, buildMessagesRequest } from './messages/request.ts';
import { buildMessagesReader } from './messages/reader.ts';
import { buildResponsesRequest } from './responses/request.ts';
import { buildResponsesReader } from './responses/reader.ts';

export const DIALECTS: Record<UpstreamFormat, Dialect> = {
  'chat-completions': { hasStop: true, buildRequest: buildChatRequest, buildReader: buildChatReader },
  messages: {
    hasStop: true,
    buildRequest: buildMessagesRequest,
    buildReader: buildMessagesReader,
    buildCountRequest,
  },
  responses: {
    hasStop: false,
    buildRequest: buildResponsesRequest,
    buildReader: buildResponsesReader,
  },
  'generate-content': {
    hasStop: true,
    maxStops: MAX_STOPS,
    buildRequest: buildGenerateContentRequest,
    buildReader: buildGenerateContentReader,
    buildCountRequest: buildGenerateContentCount,
  },
  converse: {
    hasStop: true,
    buildRequest: buildConverseRequest,
    buildReader: buildConverseReader,
    buildCountRequest: buildConverseCount,
  },
};
