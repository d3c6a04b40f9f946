import { timingSafeEqual } from 'node:crypto';
import type { MasterKeys } from '../../platform/master-key.ts';

/** A mailbox that others post messages to. */
export type InboundAddress = { organizationId: string; mailboxId: string };

const MAX_LENGTH = 400;

const sign = (masterKeys: MasterKeys, payload: string) => masterKeys.fingerprint('login-mailbox', payload);

/** The last part of the URL of a mailbox: what it names, and a signature over it. */
export function signAddress(masterKeys: MasterKeys, { organizationId, mailboxId }: InboundAddress): string {
  const payload = Buffer.from(JSON.stringify([organizationId, mailboxId])).toString('base64url');
  return `${payload}.${sign(masterKeys, payload)}`;
}

/** Undefined for a token that was not signed here, or was changed. */
export function readAddress(masterKeys: MasterKeys, token: string): InboundAddress | undefined {
  if (token.length > MAX_LENGTH) return undefined;
  const [payload = '', signature = ''] = token.split('.');
  const wanted = Buffer.from(sign(masterKeys, payload));
  const given = Buffer.from(signature);
  if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) return undefined;
  const [organizationId, mailboxId] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [string, string];
  return { organizationId, mailboxId };
}
