import { createPrivateKey, createPublicKey, hkdfSync, sign } from 'node:crypto';
import type { ExecutorToken } from '../protocol/executor.ts';

/** Long enough for the clocks of two machines to differ, short enough to be worthless when it is found. */
const LIFE_SECONDS = 120;
/** DER of an Ed25519 private key, up to its 32 bytes. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Signs calls of executors. */
export type Signer = {
  /** base64url of the 32 bytes that executors check with */
  publicKey: string;
  /** For the executor of this name, good for two minutes. */
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
