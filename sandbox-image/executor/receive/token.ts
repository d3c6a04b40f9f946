import { createPublicKey, verify } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ExecutorToken } from '../../../src/sandbox/protocol/executor.ts';

/**
 * Verifies `authorization: Bearer <payload>.<signature>`, both base64url: an `ExecutorToken` for this executor, not
 * expired, signed with Ed25519. The verification key cannot sign, so an attacker who controls the sandbox cannot create
 * tokens.
 */
export function buildAuthorizer(
  trust: { publicKey: string; audience: string },
  now: () => number = Date.now,
): (request: IncomingMessage) => boolean {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: trust.publicKey }, format: 'jwk' });
  return ({ headers }) => {
    const [, payload, signature] = /^Bearer ([\w-]+)\.([\w-]+)$/.exec(headers.authorization ?? '') ?? [];
    if (payload === undefined || signature === undefined) return false;
    if (!verify(null, Buffer.from(payload), key, Buffer.from(signature, 'base64url'))) return false;
    const { aud, exp } = readToken(payload);
    return aud === trust.audience && typeof exp === 'number' && exp * 1000 > now();
  };
}

function readToken(payload: string): Partial<ExecutorToken> {
  try {
    return (JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) ?? {}) as Partial<ExecutorToken>;
  } catch {
    return {};
  }
}
