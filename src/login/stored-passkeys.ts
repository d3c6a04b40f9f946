// Tests: test/login/passkeys.test.ts
import { createPrivateKey } from 'node:crypto';
import type { Db } from '../platform/db/db.ts';
import type { MasterKeys } from '../platform/master-key.ts';
import type { PasskeyUse } from './browser/passkeys.ts';
import { MAX_PASSKEYS, MAX_SIGN_COUNT } from './contract/passkeys.ts';
import type { Passkey } from './contract/passkeys.ts';
import { LoginError } from './login-error.ts';
import { sealSecrets, unsealSecrets } from './sealed-credentials.ts';
import { findRegistrableDomain } from './site.ts';
import type { Site } from './site.ts';
import { findLoginCredential, replaceSealedSecrets } from './store/credentials.ts';

type Ports = { db: Db; masterKeys: MasterKeys };
type Owner = { organizationId: string; credentialId: string };

/** How often a change is made again because somebody else has changed the credential meanwhile. */
const MAX_TRIES = 8;
/** Signatures that one login may make. More are counted when they are made. */
const RESERVED_SIGNATURES = 16;

/** What the browser's virtual authenticator signs with, beside ECDSA with P-256. */
const KEY_TYPES = new Set<string | undefined>(['rsa', 'ed25519', 'ml-dsa-44', 'ml-dsa-65', 'ml-dsa-87']);

function isUsableKey(text: string): boolean {
  try {
    const key = createPrivateKey({ key: Buffer.from(text, 'base64url'), format: 'der', type: 'pkcs8' });
    if (key.asymmetricKeyType === 'ec') return key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
    return KEY_TYPES.has(key.asymmetricKeyType);
  } catch {
    return false;
  }
}

const belongsTo = ({ rpId }: Passkey, sites: readonly Site[]) =>
  sites.some(({ domains }) => domains.includes(findRegistrableDomain(rpId)));

/** Throws `validation_error` for a passkey of another site, or one without a usable key. */
export function checkPasskeys(passkeys: readonly Passkey[], sites: readonly Site[]): void {
  for (const [index, passkey] of passkeys.entries()) {
    const fail = (message: string) => new LoginError('validation_error', `cred.passkeys.${index}.${message}`);
    if (!belongsTo(passkey, sites)) throw fail('rpId: must belong to the domain of the site');
    if (!isUsableKey(passkey.privateKey)) {
      throw fail('privateKey: must be a PKCS #8 key of ECDSA with P-256, Ed25519, RSA or ML-DSA');
    }
  }
}

/** New passkeys in place of old ones. The counter of a passkey never goes back. */
export function replacePasskeys(old: readonly Passkey[], given: readonly Passkey[]): Passkey[] {
  return given.map((passkey) => {
    const same = old.find(({ credentialId }) => credentialId === passkey.credentialId);
    return { ...passkey, signCount: Math.max(passkey.signCount, same?.signCount ?? 0) };
  });
}

/** Changes the passkeys of a credential. Returns those before the change; none if the credential was deleted. */
async function changePasskeys(
  ports: Ports,
  { organizationId, credentialId }: Owner,
  change: (passkeys: readonly Passkey[]) => Passkey[],
): Promise<readonly Passkey[]> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const stored = await findLoginCredential(ports.db, organizationId, credentialId);
    if (stored === undefined) return [];
    const secrets = unsealSecrets(ports, credentialId, stored);
    const { passkeys = [] } = secrets;
    const changed = change(passkeys);
    const after = sealSecrets(ports, credentialId, { ...secrets, passkeys: changed });
    const replaced = { before: stored.sealed, after, passkeys: changed.length };
    if (await replaceSealedSecrets(ports.db, organizationId, credentialId, replaced)) return passkeys;
  }
  throw new LoginError('conflict', 'The credential is being changed.');
}

const advance = (passkey: Passkey, to: number): Passkey => ({
  ...passkey,
  signCount: Math.min(Math.max(passkey.signCount, to), MAX_SIGN_COUNT),
});

/**
 * The passkeys of a credential for one login. Sites refuse a passkey whose counter goes back, so the counters that the
 * login may need are stored before it begins: a process that ends meanwhile loses none.
 */
export async function usePasskeys(
  ports: Ports,
  owner: Owner,
  { mayEnrol, sites }: { mayEnrol: boolean; sites: readonly Site[] },
): Promise<PasskeyUse> {
  const passkeys = await changePasskeys(ports, owner, (stored) =>
    stored.map((passkey) => advance(passkey, passkey.signCount + RESERVED_SIGNATURES)),
  );
  const reserved = new Map(passkeys.map((each) => [each.credentialId, each.signCount + RESERVED_SIGNATURES]));
  return {
    passkeys,
    mayEnrol: mayEnrol && passkeys.length === 0,
    async onUsed({ credentialId, signCount }) {
      if (signCount <= (reserved.get(credentialId) ?? 0)) return;
      await changePasskeys(ports, owner, (stored) =>
        stored.map((passkey) => (passkey.credentialId === credentialId ? advance(passkey, signCount) : passkey)),
      );
    },
    async onEnrolled(passkey) {
      if (!belongsTo(passkey, sites)) return;
      await changePasskeys(ports, owner, (stored) => [passkey, ...stored].slice(0, MAX_PASSKEYS));
    },
  };
}
