import { buildChatError } from '../chat-completions/error.ts';
import type { ClientDialect } from '../dialect.ts';
import { readResponsesCall } from './request.ts';

export const RESPONSES: ClientDialect = {
  name: 'responses',
  readCall: readResponsesCall,
  rejectsImagesForTextModels: true,
  keepalive: ': keepalive\n\n',
  buildError: buildChatError,
};
