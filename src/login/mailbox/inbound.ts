// Tests: test/login/inbound.test.ts
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Db } from '../../platform/db/db.ts';
import { newId } from '../../platform/ids.ts';
import { UnsealError } from '../../platform/master-key.ts';
import type { MasterKeys } from '../../platform/master-key.ts';
import { LoginError } from '../login-error.ts';
import type { Site } from '../site.ts';
import { insertLoginMessage, listLoginMessageIds, takeLoginMessages } from '../store/messages.ts';
import type { StoredMessage } from '../store/messages.ts';
import { readAddress } from './address.ts';
import type { InboundAddress } from './address.ts';
import { isFromSite, isTo } from './email.ts';
import { pollForAnswer } from './poll.ts';
import type { Mailbox } from './port.ts';
import { readPosted } from './posted.ts';
import type { PostedMessage } from './posted.ts';

/** Maximum size of a message. */
export const MESSAGE_BYTES = 2 * 1024 * 1024;

export type InboundPorts = { db: Db; masterKeys: MasterKeys };

const contextOf = (id: string) => `login-message/${id}`;

/** Stores a message sealed, and returns its id. */
export async function storeMessage(
  { db, masterKeys }: InboundPorts,
  address: InboundAddress,
  message: PostedMessage,
): Promise<string> {
  const id = newId('msg');
  await insertLoginMessage(db, { ...masterKeys.seal(JSON.stringify(message), contextOf(id)), ...address, id });
  return id;
}

/**
 * Takes messages that providers post to the address of a mailbox. Whoever has the address needs no key; what is posted
 * is stored sealed, and only a login that waits at that mailbox reads it.
 */
export function registerInboundRoutes(app: FastifyInstance, { db, masterKeys }: InboundPorts): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.post(
      '/api/inbound/:token',
      { bodyLimit: MESSAGE_BYTES },
      async (request: FastifyRequest<{ Params: { token: string } }>, reply) => {
        const address = readAddress(masterKeys, request.params.token);
        if (address === undefined) throw new LoginError('not_found', 'No such mailbox.');
        const body = request.body instanceof Buffer ? request.body : new Uint8Array();
        const message = await readPosted(request.headers['content-type'] ?? '', body);
        if (message === undefined) throw new LoginError('validation_error', 'body: holds no message');
        const id = await storeMessage({ db, masterKeys }, address, message);
        return reply.code(200).send({ object: 'message', id });
      },
    );
  });
}

/** The mailbox that others post to, for one login: only what comes after it was opened counts. */
export function openInboundMailbox(
  { db, masterKeys }: InboundPorts,
  { organizationId, mailboxId }: { organizationId: string; mailboxId: string },
  { site, address }: { site: Site; address: string | undefined },
): Mailbox {
  const messages: PostedMessage[] = [];
  const opening = listLoginMessageIds(db, organizationId, mailboxId);
  opening.catch(() => undefined);
  const read = (stored: StoredMessage): PostedMessage | undefined => {
    try {
      return JSON.parse(masterKeys.unseal(stored, contextOf(stored.id))) as PostedMessage;
    } catch (error) {
      if (error instanceof UnsealError) return undefined;
      throw error;
    }
  };
  // A text message names no site: its number is that of the account.
  const counts = (message: PostedMessage) =>
    message.channel === 'sms' || (isTo(message, address) && isFromSite(message, site));
  return {
    channels: ['email', 'sms'],
    async ready() {
      await opening;
    },
    async find(wanted, withinMs, signal) {
      const except = await opening;
      const take = async () => {
        const taken = await takeLoginMessages(db, organizationId, { mailboxId, except });
        return taken.flatMap((stored) => read(stored) ?? []).filter(counts);
      };
      return pollForAnswer(take, messages, { wanted, withinMs, site, signal });
    },
    close: () => undefined,
  };
}
