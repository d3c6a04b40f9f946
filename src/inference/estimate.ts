import type { ModelRequest } from './model.ts';

/** The usual token count of an image at most upstreams. */
const IMAGE_TOKENS = 1500;

/** Estimates the tokens of a request: four bytes of text per token, in any language. */
export function estimateTokens({
  system,
  messages,
  tools,
}: Pick<ModelRequest, 'system' | 'messages' | 'tools'>): number {
  let images = 0;
  const text = JSON.stringify(messages, (key, value: unknown) => {
    if (key !== 'data') return value;
    images += 1;
    return '';
  });
  const bytes =
    Buffer.byteLength(system) +
    Buffer.byteLength(text) +
    (tools.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(tools)));
  return Math.ceil(bytes / 4) + images * IMAGE_TOKENS;
}
