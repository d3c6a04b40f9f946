import type { ReasoningPart } from '../../inference/model.ts';
import { isRecord } from '../../platform/records.ts';

/**
 * Reasoning returns to its issuer together with its signature. The gateway stores nothing, so the client carries the
 * signature, in the field that its format has for one, as opaque text that names the issuer.
 */
export const SIGNATURE_PREFIX = 'cap1_';

type ReasoningSignature = Pick<ReasoningPart, 'signature' | 'encrypted' | 'redacted' | 'issuer' | 'summary'>;

/** Undefined for reasoning without an issuer. */
export function packSignature(part: ReasoningPart): string | undefined {
  const { signature, encrypted, redacted, issuer, summary } = part;
  if (issuer === undefined) return undefined;
  const fields = { i: issuer, s: signature, e: encrypted, r: redacted, ...(summary === true ? { m: 1 } : {}) };
  return SIGNATURE_PREFIX + Buffer.from(JSON.stringify(fields)).toString('base64url');
}

/** Undefined for a signature that this gateway did not pack, such as one from an upstream that was called directly. */
export function unpackSignature(text: unknown): ReasoningSignature | undefined {
  if (typeof text !== 'string' || !text.startsWith(SIGNATURE_PREFIX)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text.slice(SIGNATURE_PREFIX.length), 'base64url').toString('utf8'));
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
