import type { AddressInfo } from 'node:net';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { expect } from 'vitest';

export type Letter = { to: string; subject: string; text: string };

export type Mailbox = { port: number; letters: Letter[]; close(): Promise<void> };

/** Takes every letter that an application sends, by SMTP on 127.0.0.1; `deliver` gets each as it came. */
export async function openMailbox(deliver?: (to: string, letter: Uint8Array) => void): Promise<Mailbox> {
  const letters: Letter[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, session, done) {
      const take = async (): Promise<void> => {
        try {
          const chunks: Buffer[] = [];
          for await (const chunk of stream) chunks.push(chunk as Buffer);
          const letter = Buffer.concat(chunks);
          const { subject = '', text, html } = await PostalMime.parse(letter);
          for (const { address } of session.envelope.rcptTo) {
            deliver?.(address, letter);
            letters.push({ to: address, subject, text: text ?? html ?? '' });
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
    letters,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** What a letter to an address has of a pattern: its first group, or all of it. Undefined until such a letter came. */
export function findInMail({ letters }: Mailbox, to: string, pattern: RegExp): string | undefined {
  const found = letters.filter((letter) => letter.to === to).map(({ text }) => pattern.exec(text));
  const last = found.findLast((match) => match !== null);
  return last?.[1] ?? last?.[0];
}

/** What a letter says, once it is there. */
export async function waitForLetter(mailbox: Mailbox, to: string, pattern: RegExp): Promise<string> {
  await expect.poll(() => findInMail(mailbox, to, pattern)).toBeDefined();
  return findInMail(mailbox, to, pattern) ?? '';
}
