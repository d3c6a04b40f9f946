// Tests: test/inference/upstream/generate-content
import type { AssistantPart } from '../../model.ts';

/**
 * A signature belongs to one part of a reply: the n-th call, the last text, or a thought. Client formats move reasoning
 * before the rest of a message, so the signature names its part: `call-0:…`, `text:…`, `thought:…`.
 */
export type SignedPart = `call-${number}` | 'text' | 'thought';

export function nameSignature(part: SignedPart, signature: string): string {
  return `${part}:${signature}`;
}

/** Signatures that the issuer gave, by the name of their part. */
export function readSignatures(content: readonly AssistantPart[], issuer: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const part of content) {
    if (part.type !== 'reasoning' || part.issuer !== issuer || part.signature === undefined) continue;
    const colon = part.signature.indexOf(':');
    if (colon > 0) found.set(part.signature.slice(0, colon), part.signature.slice(colon + 1));
  }
  return found;
}
