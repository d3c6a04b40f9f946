import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { seal, sha256, unseal } from './crypto.ts';
import { CapstanError, StartupError } from './errors.ts';
import type { CauseOptions } from './errors.ts';

/** An encrypted secret: the text under its own data key, and that key under the named master key. */
export type Sealed = { sealed: string; dataKey: string; masterKeyId: string };

/** No available key decrypts it: it was encrypted with another key, or tampered with. */
export class UnsealError extends CapstanError<'unseal_failed'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('unseal_failed', message, options);
  }
}

/**
 * Envelope encryption, AES-256-GCM. `context`, for instance a row's id, is authenticated: a sealed text cannot be
 * moved.
 */
export type MasterKeys = {
  /** names the key that seals; a fingerprint, not secret */
  currentId: string;
  seal(plaintext: string, context: string): Sealed;
  /** Throws `UnsealError`. */
  unseal(sealed: Sealed, context: string): string;
  /** Names a text for lookup: equal for equal texts and purposes, and of no use to whoever has no key. Hexadecimal. */
  fingerprint(purpose: string, text: string): string;
  /** The same secret under the current master key; undefined when it is already. Throws `UnsealError`. */
  rewrap(sealed: Sealed, context: string): Sealed | undefined;
};

const KEY_BYTES = 32;

/** Keys as base64 of 32 bytes. `previous` only decrypts. */
export function buildMasterKeys(current: string, previous?: string): MasterKeys {
  const keys = [current, ...(previous === undefined ? [] : [previous])].map((text) => {
    const key = Buffer.from(text, 'base64');
    if (key.length !== KEY_BYTES) throw new StartupError('Bad setting: the master key must be 32 bytes in base64.');
    return { id: sha256(Buffer.concat([Buffer.from('capstan master key\0'), key])).slice(0, 16), key };
  });
  const [own] = keys;
  if (own === undefined) throw new StartupError('There is no master key.');

  const openDataKey = ({ dataKey, masterKeyId }: Sealed, context: string): Buffer => {
    const found = keys.find(({ id }) => id === masterKeyId);
    if (found === undefined) throw new UnsealError('It was encrypted with a master key that is not available.');
    return Buffer.from(attempt(found.key, dataKey, `${context}/key`), 'base64');
  };

  return {
    currentId: own.id,
    seal(plaintext, context) {
      const dataKey = randomBytes(KEY_BYTES);
      return {
        sealed: seal(dataKey, plaintext, context),
        dataKey: seal(own.key, dataKey.toString('base64'), `${context}/key`),
        masterKeyId: own.id,
      };
    },
    fingerprint(purpose, text) {
      const key = hkdfSync('sha256', own.key, '', `capstan fingerprint/${purpose}`, KEY_BYTES);
      return createHmac('sha256', Buffer.from(key)).update(text).digest('hex');
    },
    unseal: (sealed, context) => attempt(openDataKey(sealed, context), sealed.sealed, context),
    rewrap(sealed, context) {
      if (sealed.masterKeyId === own.id) return undefined;
      const dataKey = openDataKey(sealed, context).toString('base64');
      return { sealed: sealed.sealed, dataKey: seal(own.key, dataKey, `${context}/key`), masterKeyId: own.id };
    },
  };
}

function attempt(key: Uint8Array, sealed: string, context: string): string {
  try {
    return unseal(key, sealed, context);
  } catch (error) {
    throw new UnsealError('It cannot be unsealed.', { cause: error });
  }
}

/** The key kept in a file that only its owner reads; made at first start. */
export function ensureMasterKeyFile(path: string): string {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  // Written aside and then linked, so that two starts agree on one key and none reads half of it.
  writeFileSync(draft, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(path, 'utf8').trim();
}
