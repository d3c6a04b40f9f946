import { z } from 'zod';

/** Nothing is asked for yet. */
export const NewInboundMailbox = z.object({}).meta({ id: 'NewInboundMailbox' });

/** A mailbox that others post messages to: for `cred.mailbox` of type `webhook`. */
export const InboundMailbox = z
  .object({
    object: z.literal('mailbox'),
    mailboxId: z.string(),
    /** where messages are posted; whoever has it needs no key */
    url: z.string(),
    /** where emails are sent; only where the service receives mail by SMTP */
    address: z.string().optional(),
  })
  .meta({ id: 'InboundMailbox' });
export type InboundMailbox = z.infer<typeof InboundMailbox>;

/** The listener of `capstan.yaml` that receives emails to mailboxes. */
export const SmtpConfig = z
  .strictObject({
    port: z.int().min(1).max(65_535),
    host: z.string().min(1).max(253).default('127.0.0.1'),
    /** what the addresses of mailboxes end with */
    domain: z
      .string()
      .max(180)
      .regex(/^[a-z\d]+(?:[.-][a-z\d]+)*$/i, 'must be the name of a domain'),
    /** PEM files of the certificate, with its chain, and its key: with both, STARTTLS is offered */
    certFile: z.string().min(1).max(4096).optional(),
    keyFile: z.string().min(1).max(4096).optional(),
  })
  .refine(({ certFile, keyFile }) => (certFile === undefined) === (keyFile === undefined), {
    message: 'certFile and keyFile belong together',
  });
export type SmtpConfig = z.infer<typeof SmtpConfig>;
