import { isIP } from 'node:net';
import type { ImapFlow } from 'imapflow';
import type { ImapMailbox } from '../contract/shapes.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { EgressError } from '../../platform/egress/error.ts';
import { CapstanError } from '../../platform/errors.ts';

/** An open folder; only what comes after it was opened is in it. */
export type OpenFolder = {
  /** Emails that have come since, oldest first, each once. Throws a `MailboxError`. */
  take(): Promise<Uint8Array[]>;
  /** Never throws. */
  close(): void;
};

/** Why a mailbox gives nothing: there is no way to it, or it lets nobody in. */
export type MailboxErrorReason = 'unreachable' | 'refused';

/** The message holds nothing of what the server has said. */
export class MailboxError extends CapstanError<MailboxErrorReason> {
  constructor(code: MailboxErrorReason, cause: unknown) {
    const message = code === 'refused' ? 'The mailbox lets nobody in.' : 'The mailbox cannot be reached.';
    super(code, message, { cause, retryable: code === 'unreachable' });
  }
}

const CONNECT_MS = 10_000;
const SOCKET_MS = 60_000;
/** Bytes of an email that are read, and emails of one look. */
const MAX_EMAIL_BYTES = 512 * 1024;
const MAX_EMAILS = 20;

/** The library takes a while to load, and few logins need it. */
const loadClient = () => import('imapflow');

async function connect(box: ImapMailbox, address: string): Promise<ImapFlow> {
  const { ImapFlow: Client } = await loadClient();
  const client = new Client({
    // The address that was checked; the certificate has to be the host's all the same.
    host: address,
    ...(isIP(box.host) === 0 ? { servername: box.host } : {}),
    port: box.port,
    secure: box.secure,
    auth: { user: box.username, pass: box.password },
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SOCKET_MS,
    disableAutoIdle: true,
    logger: false,
  });
  // Whoever asks next is told.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Addresses are tried one after the other, as far as nobody answers there. */
async function connectChecked(egress: Egress, box: ImapMailbox): Promise<ImapFlow> {
  let fault: unknown;
  for (const { address } of await egress.resolve(box.host, box.port)) {
    try {
      return await connect(box, address);
    } catch (error) {
      if ((error as { authenticationFailed?: boolean }).authenticationFailed === true) {
        throw new MailboxError('refused', error);
      }
      fault = error;
    }
  }
  throw new MailboxError('unreachable', fault);
}

/** Opens a folder of an IMAP server, at an address that the guard has checked. Throws a `MailboxError`. */
export async function openFolder(egress: Egress, box: ImapMailbox): Promise<OpenFolder> {
  const client = await connectChecked(egress, box).catch((error: unknown) => {
    throw error instanceof EgressError ? new MailboxError('unreachable', error) : error;
  });
  let next: number;
  try {
    next = (await client.mailboxOpen(box.folder, { readOnly: true })).uidNext;
  } catch (error) {
    client.close();
    throw new MailboxError('refused', error);
  }
  return {
    async take() {
      try {
        await client.noop();
        const found: { uid: number; source: Uint8Array }[] = [];
        const query = { uid: true, source: { maxLength: MAX_EMAIL_BYTES } };
        for await (const { uid, source } of client.fetch(`${next}:*`, query, { uid: true })) {
          // The last email answers to `*` even where it is older.
          if (uid >= next && source !== undefined) found.push({ uid, source });
          if (found.length >= MAX_EMAILS) break;
        }
        next = Math.max(next, ...found.map(({ uid }) => uid + 1));
        return found.toSorted((left, right) => left.uid - right.uid).map(({ source }) => source);
      } catch (error) {
        throw new MailboxError('unreachable', error);
      }
    },
    close: () => client.close(),
  };
}
