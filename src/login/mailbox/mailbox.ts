// Tests: test/login/email.test.ts, test/login-apps/mailboxes.test.ts
import { setTimeout as sleep } from 'node:timers/promises';
import type { ImapMailbox, LoginMailbox } from '../contract/shapes.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { EgressError } from '../../platform/egress/error.ts';
import type { Logger } from '../../platform/log.ts';
import { LoginError } from '../login-error.ts';
import type { Answer } from '../flow/challenge.ts';
import type { Site } from '../site.ts';
import { MailboxError, openFolder } from './imap.ts';
import type { MailboxErrorReason } from './imap.ts';
import { findCode, findLink, isFromSite, isTo, readEmail } from './email.ts';
import type { Email } from './email.ts';

/** What a mailbox has for a login: an answer, or why it has none; `nothing`: no such email came in time. */
export type Found = Answer | { failure: MailboxErrorReason | 'nothing' };

/** The mailbox of one login. */
export type Mailbox = {
  /** Resolves once only newer emails count, or once it is known that there will be none. */
  ready(): Promise<void>;
  /** Waits for an email at most so many ms. Throws the signal's reason. */
  find(wanted: 'code' | 'link', withinMs: number, signal: AbortSignal): Promise<Found>;
  /** Never throws. */
  close(): void;
};

const LOOK_EVERY_MS = 700;

/** Throws `unsafe_domain` for a mailbox that is not on the public internet. Names that are none are told later. */
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

/** Begins to open a mailbox. `address`: whom emails have to be for; undefined where the user name is none. */
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
  const take = (wanted: 'code' | 'link'): Answer | undefined => {
    // The newest one first: what it replaces is not valid any more.
    for (const email of emails.toReversed()) {
      const link = findLink(email, site);
      const code = wanted === 'code' ? findCode(email) : undefined;
      const answer = code !== undefined ? { code } : link === undefined ? undefined : { link };
      if (answer === undefined) continue;
      emails.length = 0;
      return answer;
    }
    return undefined;
  };
  return {
    async ready() {
      await opening;
    },
    async find(wanted, withinMs, signal) {
      const folder = await opening;
      if ('failure' in folder) return folder;
      const end = performance.now() + withinMs;
      for (;;) {
        try {
          for (const source of await folder.take()) {
            const email = await readEmail(source);
            if (isTo(email, address) && isFromSite(email, site)) emails.push(email);
          }
        } catch (error) {
          return { failure: error instanceof MailboxError ? error.code : 'nothing' };
        }
        const answer = take(wanted);
        if (answer !== undefined) return answer;
        if (performance.now() >= end) return { failure: 'nothing' };
        await sleep(LOOK_EVERY_MS, undefined, { signal });
      }
    },
    close() {
      void opening.then((folder) => ('failure' in folder ? undefined : folder.close()));
    },
  };
}

/** Runs `use` with the mailbox open, or with none where the caller has named none that is read. */
export async function withMailbox<T>(
  ports: { egress: Egress; log: Logger },
  box: LoginMailbox | undefined,
  account: { site: Site; address: string | undefined },
  use: (mailbox: Mailbox | undefined) => Promise<T>,
): Promise<T> {
  if (box?.type !== 'imap') return use(undefined);
  const address = account.address?.includes('@') === true ? account.address : undefined;
  const mailbox = openMailbox(ports, box, { ...account, address });
  try {
    return await use(mailbox);
  } finally {
    mailbox.close();
  }
}

/** What kind of failure it was, without a word of the server's. */
function readCode(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' && /^[\w-]{1,60}$/.test(code) ? code : 'unknown';
}
