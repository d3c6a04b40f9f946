// Tests: test/login/email.test.ts, test/login-apps/mailboxes.test.ts
import type { ImapMailbox, LoginMailbox } from '../contract/shapes.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { EgressError } from '../../platform/egress/error.ts';
import type { Logger } from '../../platform/log.ts';
import { LoginError } from '../login-error.ts';
import type { Site } from '../site.ts';
import { MailboxError, openFolder } from './imap.ts';
import { isFromSite, isTo, readEmail } from './email.ts';
import type { Email } from './email.ts';
import { openInboundMailbox } from './inbound.ts';
import type { InboundPorts } from './inbound.ts';
import { pollForAnswer } from './poll.ts';
import type { Mailbox } from './port.ts';

/** Throws `unsafe_domain` for a mailbox that is not on the public internet. Unknown names fail later. */
export async function checkMailbox(egress: Egress, box: LoginMailbox | undefined): Promise<void> {
  if (box?.type !== 'imap') return;
  try {
    await egress.resolve(box.host, box.port);
  } catch (error) {
    if (!(error instanceof EgressError) || error.code !== 'refused') return;
    throw new LoginError(
      'unsafe_domain',
      'cred.mailbox.host: leads to an address that is not on the public internet.',
      {
        details: { reason: 'private_address', field: 'cred.mailbox.host' },
        cause: error,
      },
    );
  }
}

/** Starts to open a mailbox. `address`: the required recipient; undefined if the user name is not an address. */
function openMailbox(
  { egress, log }: { egress: Egress; log: Logger },
  box: ImapMailbox,
  { site, address }: { site: Site; address: string | undefined },
): Mailbox {
  const emails: Email[] = [];
  const opening = openFolder(egress, box).catch((error: unknown) => {
    const failure = error instanceof MailboxError ? error.code : 'unreachable';
    log.warn({ failure, code: readCode(error) }, 'a mailbox could not be opened');
    return { failure };
  });
  return {
    channels: ['email'],
    async ready() {
      await opening;
    },
    async find(wanted, withinMs, signal) {
      const folder = await opening;
      if ('failure' in folder) return folder;
      const take = async () => {
        try {
          const read = await Promise.all((await folder.take()).map(readEmail));
          return read.filter((email) => isTo(email, address) && isFromSite(email, site));
        } catch (error) {
          return { failure: error instanceof MailboxError ? error.code : ('nothing' as const) };
        }
      };
      return pollForAnswer(take, emails, { wanted, withinMs, site, signal });
    },
    close() {
      void opening.then((folder) => ('failure' in folder ? undefined : folder.close()));
    },
  };
}

/** Runs `use` with the open mailbox, or without one if the caller named none. */
export async function withMailbox<T>(
  ports: InboundPorts & { egress: Egress; log: Logger },
  box: LoginMailbox | undefined,
  account: { organizationId: string; site: Site; address: string | undefined },
  use: (mailbox: Mailbox | undefined) => Promise<T>,
): Promise<T> {
  const mailbox = openNamed(ports, box, account);
  try {
    return await use(mailbox);
  } finally {
    mailbox?.close();
  }
}

function openNamed(
  ports: Parameters<typeof withMailbox>[0],
  box: LoginMailbox | undefined,
  { organizationId, site, ...account }: Parameters<typeof withMailbox>[2],
): Mailbox | undefined {
  const address = account.address?.includes('@') === true ? account.address : undefined;
  if (box?.type === 'imap') return openMailbox(ports, box, { site, address });
  if (box?.mailboxId === undefined) return undefined;
  return openInboundMailbox(ports, { organizationId, mailboxId: box.mailboxId }, { site, address });
}

/** The error code, without any text of the server. */
function readCode(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /^[\w-]{1,60}$/.test(code) ? code : 'unknown';
}
