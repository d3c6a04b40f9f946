import { setTimeout as sleep } from 'node:timers/promises';
import type { ImapMailbox, LoginMailbox } from '../contract/shapes.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { EgressError } from '../../platform/egress/error.ts';
import type { Logger } from '../../platform/log.ts';
import { LoginFault } from '../login-error.ts';
import type { Given } from '../flow/challenge.ts';
import type { Site } from '../site.ts';
import { MailboxError, openFolder } from './imap.ts';
import type { MailboxTrouble } from './imap.ts';
import { findCode, findLink, isOfSite, isTo, readLetter } from './email.ts';
import type { Letter } from './email.ts';

/** What a mailbox has for a login: an answer, or why it has none; `nothing`: no such letter came in time. */
export type Found = Given | { trouble: MailboxErrorCode | 'nothing' };

/** The mailbox of one login. */
export type Mailbox = {
  /** Resolves once only newer letters count, or once it is known that there will be none. */
  ready(): Promise<void>;
  /** Waits for a letter at most so many ms. Throws the signal's reason. */
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
    if (!(error instanceof EgressError) || error.fault !== 'refused') return;
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

/** Begins to open a mailbox. `address`: whom letters have to be for; undefined where the user name is none. */
function openMailbox(
  { egress, log }: { egress: Egress; log: Logger },
  box: ImapMailbox,
  { site, address }: { site: Site; address: string | undefined },
): Mailbox {
  const letters: Letter[] = [];
  const opening = openFolder(egress, box).catch((error: unknown) => {
    const trouble = error instanceof MailboxError ? error.trouble : 'unreachable';
    log.warn({ trouble, code: readCode(error) }, 'a mailbox could not be opened');
    return { trouble };
  });
  const take = (wanted: 'code' | 'link'): Given | undefined => {
    // The newest one first: what it replaces is not valid any more.
    for (const letter of letters.toReversed()) {
      const link = findLink(letter, site);
      const code = wanted === 'code' ? findCode(letter) : undefined;
      const given = code !== undefined ? { code } : link === undefined ? undefined : { link };
      if (given === undefined) continue;
      letters.length = 0;
      return given;
    }
    return undefined;
  };
  return {
    async ready() {
      await opening;
    },
    async find(wanted, withinMs, signal) {
      const folder = await opening;
      if ('trouble' in folder) return folder;
      const end = performance.now() + withinMs;
      for (;;) {
        try {
          for (const source of await folder.take()) {
            const letter = await readLetter(source);
            if (isTo(letter, address) && isOfSite(letter, site)) letters.push(letter);
          }
        } catch (error) {
          return { trouble: error instanceof MailboxError ? error.trouble : 'nothing' };
        }
        const given = take(wanted);
        if (given !== undefined) return given;
        if (performance.now() >= end) return { trouble: 'nothing' };
        await sleep(LOOK_EVERY_MS, undefined, { signal });
      }
    },
    close() {
      void opening.then((folder) => ('trouble' in folder ? undefined : folder.close()));
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
