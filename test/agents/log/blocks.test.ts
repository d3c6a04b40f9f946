import { fc } from '../../support/property.ts';
import { expect, it } from 'vitest';
import { buildBlocks, joinBlocks } from '../../../src/agents/log/blocks.ts';
import { TextBlocks } from '../../../src/platform/contract/common.ts';

const text = fc
  .tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), fc.nat({ max: 3 }), fc.nat({ max: 3 }))
  .map(([head, piece, before, times]) => head + 'x'.repeat(19_998 + before) + piece + '😀'.repeat(10_000 * times));

it('text comes back from its blocks, which keep to the limits and to whole characters', () => {
  fc.assert(
    fc.property(text, (original) => {
      const blocks = buildBlocks(original);
      expect(joinBlocks(blocks)).toBe(original);
      expect(TextBlocks.safeParse(blocks).success).toBe(true);
      expect(blocks.every((block) => block.text.isWellFormed())).toBe(original.isWellFormed());
    }),
    { numRuns: 50 },
  );
});

it('no text is a blank, since no block may be empty', () => {
  expect(buildBlocks('')).toEqual([{ type: 'text', text: ' ' }]);
});
