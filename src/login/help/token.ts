import { timingSafeEqual } from 'node:crypto';
import type { MasterKeys } from '../../platform/master-key.ts';

/** The content of a link to the help page: one login, until a point in time. */
export type HelpGrant = { organizationId: string; loginId: string; expiresAt: Date };

const MAX_LENGTH = 400;

const sign = (masterKeys: MasterKeys, payload: string) => masterKeys.fingerprint('login-help', payload);

/** The last part of a link to the help page: the grant and its signature. */
export function signHelpToken(masterKeys: MasterKeys, { organizationId, loginId, expiresAt }: HelpGrant): string {
  const payload = Buffer.from(JSON.stringify([organizationId, loginId, expiresAt.getTime()])).toString('base64url');
  return `${payload}.${sign(masterKeys, payload)}`;
}

/** Undefined for a token that is expired, changed, or not signed here. */
export function readHelpToken(masterKeys: MasterKeys, token: string, now: number): HelpGrant | undefined {
  if (token.length > MAX_LENGTH) return undefined;
  const [payload = '', signature = ''] = token.split('.');
  const wanted = Buffer.from(sign(masterKeys, payload));
  const given = Buffer.from(signature);
  if (wanted.length !== given.length || !timingSafeEqual(wanted, given)) return undefined;
  const [organizationId, loginId, end] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [
    string,
    string,
    number,
  ];
  return end > now ? { organizationId, loginId, expiresAt: new Date(end) } : undefined;
}
