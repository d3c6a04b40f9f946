import type { ClientDialect } from '../dialect.ts';
import { buildChatError } from './error.ts';
import { readChatCall } from './request.ts';

export const CHAT_COMPLETIONS: ClientDialect = {
  name: 'chat-completions',
  readCall: readChatCall,
  rejectsImagesForTextModels: true,
  keepalive: ': keepalive\n\n',
  buildError: buildChatError,
};
