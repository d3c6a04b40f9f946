import { createPrivateKey, createPublicKey, hkdfSync, sign } from 'node:crypto';
import type { ExecutorToken } from '../protocol/executor.ts';

/** Long enough to allow for clock skew, short enough to be useless once leaked. */
const LIFE_SECONDS = 120;
/** DER of an Ed25519 private key, up to its 32 bytes. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Signs the tokens of calls to executors. */
export type Signer = {
  /** base64url of the 32-byte Ed25519 public key that executors verify with */
  publicKey: string;
  /** A token for the executor of this name, valid for two minutes. */
  sign(audience: string): string;
};

/** Every process with the same master key (base64) has the same signer. */
export function buildSigner(masterKey: string, now: () => number = Date.now): Signer {
  const secret = Buffer.from(masterKey, 'base64');
  const seed = Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), 'capstan executor calls', 32));
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  if (x === undefined) throw new Error('the key has no public half');
  return {
    publicKey: x,
    sign(aud) {
      const token: ExecutorToken = { aud, exp: Math.floor(now() / 1000) + LIFE_SECONDS };
      const payload = Buffer.from(JSON.stringify(token)).toString('base64url');
      return `${payload}.${sign(null, Buffer.from(payload), privateKey).toString('base64url')}`;
    },
  };
}
