import { writeEvent } from '../dialect.ts';
import type { ClientDialect } from '../dialect.ts';
import { buildMessagesError } from './error.ts';
import { checkVersion } from './headers.ts';
import { readMessagesCall } from './request.ts';

export const MESSAGES: ClientDialect = {
  name: 'messages',
  readCall: readMessagesCall,
  // Coding clients resend the image with every turn: one rejection would end the conversation.
  rejectsImagesForTextModels: false,
  keepalive: writeEvent('ping', { type: 'ping' }),
  buildError: buildMessagesError,
  requestIdHeader: 'request-id',
  checkHeaders: checkVersion,
};
