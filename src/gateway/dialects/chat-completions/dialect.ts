import type { ClientDialect } from '../dialect.ts';
import { buildChatError } from './error.ts';
import { readChatCall } from './request.ts';

export const CHAT_COMPLETIONS: ClientDialect = {
  name: 'chat-completions',
  readCall: readChatCall,
  refusesBlindImages: true,
  keepalive: ': keepalive\n\n',
  buildError: buildChatError,
};
