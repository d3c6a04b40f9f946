// Tests: test/login/smtp.test.ts
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerSession } from 'smtp-server';
import { StartupError, errorText } from '../../platform/errors.ts';
import type { Limits } from '../../platform/limits/limits.ts';
import type { Logger } from '../../platform/log.ts';
import { readMailAddress } from './address.ts';
import { readEmail } from './email.ts';
import { MESSAGE_BYTES, storeMessage } from './inbound.ts';
import type { InboundPorts } from './inbound.ts';

export type MailListenerOptions = {
  host: string;
  /** 0 picks a free one */
  port: number;
  /** what the addresses of mailboxes end with */
  domain: string;
  /** PEM; with it the listener offers STARTTLS */
  tls?: { cert: string; key: string };
};

export type MailListener = { port: number; close(): Promise<void> };

type Ports = InboundPorts & { limits: Limits; log: Logger };

const MAX_CLIENTS = 50;
const MAX_RECIPIENTS = 10;
/** Recipients that one sender may name, and messages to one mailbox, in each minute. */
const RECIPIENTS_PER_MINUTE = 120;
const MESSAGES_PER_MINUTE = 30;
const MINUTE_MS = 60_000;
const SOCKET_MS = 30_000;
const CLOSE_MS = 2000;

/** An error whose reply the sender sees. */
const refuse = (responseCode: number, text: string) => Object.assign(new Error(text), { responseCode });

async function readBytes(stream: SMTPServerDataStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  // What exceeds the size is read to its end, so that the sender gets the reply.
  for await (const chunk of stream) if (!stream.sizeExceeded) chunks.push(chunk as Buffer);
  if (stream.sizeExceeded) throw refuse(552, 'The message is too large.');
  return Buffer.concat(chunks);
}

/** Decides about recipients and stores messages. */
class MailReceiver {
  readonly #ports: Ports;
  readonly #domain: string;

  constructor(ports: Ports, domain: string) {
    this.#ports = ports;
    this.#domain = domain;
  }

  async checkRecipient({ address }: SMTPServerAddress, { envelope, remoteAddress }: SMTPServerSession): Promise<void> {
    if (envelope.rcptTo.length >= MAX_RECIPIENTS) throw refuse(452, 'Too many recipients.');
    await this.#take(`login-mail-sender:${remoteAddress}`, RECIPIENTS_PER_MINUTE);
    const mailbox = readMailAddress(this.#ports.masterKeys, address, this.#domain);
    if (mailbox === undefined) throw refuse(550, 'No such mailbox.');
    await this.#take(`login-mail:${mailbox.mailboxId}`, MESSAGES_PER_MINUTE);
  }

  async receive(stream: SMTPServerDataStream, { envelope }: SMTPServerSession): Promise<void> {
    const email = await readEmail(await readBytes(stream));
    const recipients = envelope.rcptTo.map(({ address }) => address.toLowerCase());
    const message = { ...email, to: [...email.to, ...recipients], channel: 'email' as const };
    for (const recipient of new Set(recipients)) {
      const mailbox = readMailAddress(this.#ports.masterKeys, recipient, this.#domain);
      if (mailbox !== undefined) await storeMessage(this.#ports, mailbox, message);
    }
  }

  async #take(key: string, limit: number): Promise<void> {
    const { allowed } = await this.#ports.limits.take(key, 1, limit, MINUTE_MS);
    if (!allowed) throw refuse(451, 'Too many messages; try again later.');
  }

  /** Answers a command. Senders see no text of an unexpected error, and try again. */
  async answer(work: Promise<void>, done: (error?: Error | null) => void): Promise<void> {
    let refusal: Error | null = null;
    try {
      await work;
    } catch (error) {
      const isRefusal = error instanceof Error && 'responseCode' in error;
      if (!isRefusal) this.#ports.log.warn({ error: errorText(error) }, 'an email could not be received');
      refusal = isRefusal ? error : refuse(451, 'The message cannot be taken now; try again later.');
    }
    done(refusal);
  }
}

/**
 * Receives emails to mailboxes by SMTP, at most 2 MiB each. It relays nothing: a recipient whose address was not signed
 * here is refused with 550. Throws `StartupError` when the address cannot be had.
 */
export async function openMailListener(ports: Ports, options: MailListenerOptions): Promise<MailListener> {
  const { host, port, domain, tls } = options;
  const receiver = new MailReceiver(ports, domain);
  const server = new SMTPServer({
    ...tls,
    name: domain,
    size: MESSAGE_BYTES,
    maxClients: MAX_CLIENTS,
    socketTimeout: SOCKET_MS,
    closeTimeout: CLOSE_MS,
    authOptional: true,
    disabledCommands: tls === undefined ? ['AUTH', 'STARTTLS'] : ['AUTH'],
    disableReverseLookup: true,
    logger: false,
    onRcptTo: (address, session, done) => void receiver.answer(receiver.checkRecipient(address, session), done),
    onData: (stream, session, done) => void receiver.answer(receiver.receive(stream, session), done),
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  }).catch((error: unknown) => {
    throw new StartupError(`login.smtp: cannot listen on ${host}:${port}: ${errorText(error)}`);
  });
  server.on('error', (error) => ports.log.debug({ error: errorText(error) }, 'a sender of email broke off'));
  const { port: taken } = server.server.address() as AddressInfo;
  return { port: taken, close: () => new Promise((resolve) => server.close(() => resolve())) };
}
