import { isIP } from 'node:net';
import type { ImapFlow } from 'imapflow';
import type { ImapMailbox } from '../contract/shapes.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { EgressError } from '../../platform/egress/error.ts';
import { CapstanError } from '../../platform/errors.ts';

/** An open folder, limited to emails that arrive after it was opened. */
export type OpenFolder = {
  /** New emails, oldest first, each once. Throws a `MailboxError`. */
  take(): Promise<Uint8Array[]>;
  /** Never throws. */
  close(): void;
};

/** Why a mailbox cannot be read: it is unreachable, or it refuses the login. */
export type MailboxErrorReason = 'unreachable' | 'refused';

/** The message contains no text of the server. */
export class MailboxError extends CapstanError<MailboxErrorReason> {
  constructor(code: MailboxErrorReason, cause: unknown) {
    const message = code === 'refused' ? 'The mailbox rejects the login.' : 'The mailbox cannot be reached.';
    super(code, message, { cause, retryable: code === 'unreachable' });
  }
}

const CONNECT_MS = 10_000;
const SOCKET_MS = 60_000;
/** Bytes read of an email, and emails read at a time. */
const MAX_EMAIL_BYTES = 512 * 1024;
const MAX_EMAILS = 20;

/** The library is slow to load, and few logins need it. */
const loadClient = () => import('imapflow');

async function connect(box: ImapMailbox, address: string): Promise<ImapFlow> {
  const { ImapFlow: Client } = await loadClient();
  const client = new Client({
    // The address that was checked; the certificate must still match the host name.
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
  // The next call throws it.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** Tries the addresses one after the other until one answers. */
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

/** Opens a folder of an IMAP server, at an address that the egress guard has checked. Throws a `MailboxError`. */
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
          // `*` matches the last email even when it is older.
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
