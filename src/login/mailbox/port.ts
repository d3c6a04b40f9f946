import type { Answer } from '../flow/challenge.ts';
import type { MailboxErrorReason } from './imap.ts';

/** A code or link from a mailbox, or why there is none; `nothing`: no such email arrived in time. */
export type Found = Answer | { failure: MailboxErrorReason | 'nothing' };

/** The mailbox of one login. */
export type Mailbox = {
  /** the messages that reach it */
  channels: readonly ('email' | 'sms')[];
  /** Resolves once the mailbox is open, so that only newer emails count, or cannot be opened. */
  ready(): Promise<void>;
  /** Waits at most `withinMs` for an email. Throws the signal's reason. */
  find(wanted: 'code' | 'link', withinMs: number, signal: AbortSignal): Promise<Found>;
  /** Never throws. */
  close(): void;
};
