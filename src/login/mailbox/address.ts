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

/** An email address holds identifiers without their prefixes, and 48 bits of a signature. */
const ID = /^[a-z]+_([0-9a-z]{26})$/;
const LOCAL_PART = /^([0-9a-z]{26})([0-9a-z]{26})([0-9a-f]{12})$/;
const SIGNATURE_LENGTH = 12;

const signLocalPart = (masterKeys: MasterKeys, ids: string) =>
  masterKeys.fingerprint('login-mail-address', ids).slice(0, SIGNATURE_LENGTH);

/**
 * The email address of a mailbox: both identifiers and a signature fill the 64 characters that a local part may have.
 * Senders may change its case.
 */
export function signMailAddress(masterKeys: MasterKeys, address: InboundAddress, domain: string): string {
  const ids = [address.organizationId, address.mailboxId].map((id) => ID.exec(id)?.[1] ?? '').join('');
  return `${ids}${signLocalPart(masterKeys, ids)}@${domain}`;
}

/** Undefined for an address of another domain, or one that was not signed here. */
export function readMailAddress(masterKeys: MasterKeys, text: string, domain: string): InboundAddress | undefined {
  const [local = '', host, ...more] = text.toLowerCase().split('@');
  if (host !== domain.toLowerCase() || more.length > 0) return undefined;
  const [, organization = '', mailbox = '', signature = ''] = LOCAL_PART.exec(local) ?? [];
  const wanted = Buffer.from(signLocalPart(masterKeys, organization + mailbox));
  const given = Buffer.from(signature);
  if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) return undefined;
  return { organizationId: `org_${organization}`, mailboxId: `mbx_${mailbox}` };
}
