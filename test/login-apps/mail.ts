import type { AddressInfo } from 'node:net';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { expect } from 'vitest';

export type SentEmail = { to: string; subject: string; text: string };

export type Mailbox = { port: number; sentEmails: SentEmail[]; close(): Promise<void> };

/** Receives every email of an application, by SMTP on 127.0.0.1. `deliver` gets each in raw form. */
export async function openMailbox(deliver?: (to: string, email: Uint8Array) => void): Promise<Mailbox> {
  const sentEmails: SentEmail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, session, done) {
      const take = async (): Promise<void> => {
        try {
          const chunks: Buffer[] = [];
          for await (const chunk of stream) chunks.push(chunk as Buffer);
          const email = Buffer.concat(chunks);
          const { subject = '', text, html } = await PostalMime.parse(email);
          for (const { address } of session.envelope.rcptTo) {
            deliver?.(address, email);
            sentEmails.push({ to: address, subject, text: text ?? html ?? '' });
          }
          done();
        } catch (error) {
          done(error as Error);
        }
      };
      void take();
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    sentEmails,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/**
 * The match of a pattern in an email to an address: its first group, or the whole. Undefined until such an email
 * arrives.
 */
export function findInMail({ sentEmails }: Mailbox, to: string, pattern: RegExp): string | undefined {
  const found = sentEmails.filter((email) => email.to === to).map(({ text }) => pattern.exec(text));
  const last = found.findLast((match) => match !== null);
  return last?.[1] ?? last?.[0];
}

/** The text of an email, once it has arrived. */
export async function waitForLetter(mailbox: Mailbox, to: string, pattern: RegExp): Promise<string> {
  await expect.poll(() => findInMail(mailbox, to, pattern)).toBeDefined();
  return findInMail(mailbox, to, pattern) ?? '';
}
