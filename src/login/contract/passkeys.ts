import { z } from 'zod';

const base64Url = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .regex(/^[\w-]+$/, 'must be base64url without padding');

/** Highest value of a signature counter. */
export const MAX_SIGN_COUNT = 4_294_967_295;

/** A passkey or security key of an account, with its private key. It is never returned. */
export const Passkey = z
  .object({
    credentialId: base64Url(1400),
    /** the domain that it belongs to: one of the site, or of its identity provider */
    rpId: z
      .string()
      .min(1)
      .max(253)
      .regex(/^[a-z\d.-]+$/, 'must be a domain in lower case'),
    /** PKCS #8: ECDSA with P-256, Ed25519, RSA or ML-DSA */
    privateKey: base64Url(4096),
    /** of the account at the site; absent: a second factor, or the site names the key */
    userHandle: base64Url(100).optional(),
    /** the signature counter so far */
    signCount: z.int().min(0).max(MAX_SIGN_COUNT).default(0),
  })
  .meta({ id: 'Passkey' });
export type Passkey = z.infer<typeof Passkey>;

export const MAX_PASSKEYS = 5;
export const Passkeys = z.array(Passkey).min(1).max(MAX_PASSKEYS);
