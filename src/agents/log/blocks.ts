import type { TextBlock } from '../../platform/contract/common.ts';

const MAX_BLOCK = 20_000;

/** Text as content blocks within the limits of the contract: never empty, never split inside a surrogate pair. */
export function buildBlocks(text: string): TextBlock[] {
  if (text === '') return [{ type: 'text', text: ' ' }];
  const blocks: TextBlock[] = [];
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + MAX_BLOCK, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    blocks.push({ type: 'text', text: text.slice(start, end) });
    start = end;
  }
  return blocks;
}

export function joinBlocks(blocks: readonly { text: string }[]): string {
  return blocks.map((block) => block.text).join('');
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd8_00 && code <= 0xdb_ff;
}
