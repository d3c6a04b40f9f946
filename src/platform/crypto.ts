import { createCipheriv, createDecipheriv, createHmac, hash, randomBytes } from 'node:crypto';

export function sha256(text: string | Uint8Array): string {
  return hash('sha256', text, 'hex');
}

/** URL-safe random text of `bytes` random bytes. */
export function randomToken(bytes: number): string {
  return randomBytes(bytes).toString('base64url');
}

/** 32 bytes for one purpose from a master key in base64: neither another purpose's key nor the master follows from them. */
export function deriveKey(masterKey: string, purpose: string): Buffer {
  return createHmac('sha256', Buffer.from(masterKey, 'base64')).update(`capstan ${purpose}`).digest();
}

/** AES-256-GCM. The context (for instance a row's id) is authenticated, so a sealed value cannot be moved. */
export function seal(key: Uint8Array, plaintext: string, context: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
  const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  return `v1.${Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url')}`;
}

/** Throws when the key or the context is not the one it was sealed with. */
export function unseal(key: Uint8Array, sealed: string, context: string): string {
  const bytes = Buffer.from(sealed.slice(3), 'base64url');
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAAD(Buffer.from(context));
  decipher.setAuthTag(bytes.subarray(-16));
  return decipher.update(bytes.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8');
}
