import { expect, it } from 'vitest';
import { estimateTokens } from '../../src/inference/estimate.ts';

it('counts four bytes of text as a token', () => {
  const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'x'.repeat(4000) }] }];
  const tokens = estimateTokens({ system: 'y'.repeat(400), messages, tools: [] });
  expect(tokens).toBeGreaterThanOrEqual(1100);
  expect(tokens).toBeLessThan(1130);
});

it('counts an image as an image, whatever its size', () => {
  const count = (data: string) =>
    estimateTokens({
      system: '',
      messages: [{ role: 'user', content: [{ type: 'image', mediaType: 'image/png', data }] }],
      tools: [],
    });
  expect(count('A'.repeat(4_000_000))).toBe(count('A'));
  expect(count('A')).toBeGreaterThanOrEqual(1500);
});
