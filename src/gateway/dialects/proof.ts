import type { ReasoningPart } from '../../inference/model.ts';
import { isRecord } from '../../platform/records.ts';

/**
 * Reasoning goes back to its issuer with the proof that it came with. The gateway keeps nothing, so the client carries
 * the proof, in the field that its format has for one: opaque text that names the issuer.
 */
export const PROOF_PREFIX = 'cap1_';

type Proof = Pick<ReasoningPart, 'signature' | 'encrypted' | 'redacted' | 'issuer' | 'summary'>;

/** Undefined for reasoning that nobody vouches for. */
export function packProof(part: ReasoningPart): string | undefined {
  const { signature, encrypted, redacted, issuer, summary } = part;
  if (issuer === undefined) return undefined;
  const fields = { i: issuer, s: signature, e: encrypted, r: redacted, ...(summary === true ? { m: 1 } : {}) };
  return PROOF_PREFIX + Buffer.from(JSON.stringify(fields)).toString('base64url');
}

/** Undefined for anything that is no proof of ours: of another gateway, or of an upstream that was asked directly. */
export function unpackProof(text: unknown): Proof | undefined {
  if (typeof text !== 'string' || !text.startsWith(PROOF_PREFIX)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text.slice(PROOF_PREFIX.length), 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { i, s, e, r, m } = value;
  if (typeof i !== 'string') return undefined;
  return {
    issuer: i,
    ...(typeof s === 'string' ? { signature: s } : {}),
    ...(typeof e === 'string' ? { encrypted: e } : {}),
    ...(typeof r === 'string' ? { redacted: r } : {}),
    ...(m === 1 ? { summary: true } : {}),
  };
}
