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
  })
  .meta({ id: 'InboundMailbox' });
export type InboundMailbox = z.infer<typeof InboundMailbox>;
