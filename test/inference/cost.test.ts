import { describe, expect, it } from 'vitest';
import { estimateCost } from '../../src/inference/cost.ts';

const usage = { input: 1_000_000, output: 500_000, cacheRead: 400_000, cacheWrite: 100_000, reasoning: 100_000 };

describe('the cost of a call', () => {
  it('prices cached tokens of their own, and reasoning within the output', () => {
    expect(estimateCost(usage, { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 })).toBeCloseTo(
      0.5 * 3 + 0.4 * 0.3 + 0.1 * 3.75 + 0.5 * 15,
    );
  });

  it('prices cached tokens as input where nothing else is said', () => {
    expect(estimateCost(usage, { input: 3, output: 15 })).toBeCloseTo(3 + 7.5);
  });

  it('is never negative when an upstream counts more cached tokens than input', () => {
    expect(estimateCost({ ...usage, input: 0 }, { input: 3, output: 0, cacheRead: 0, cacheWrite: 0 })).toBe(0);
  });

  it('prices a long prompt as such', () => {
    const longContext = { from: 200_000, input: 6, output: 30 };
    expect(estimateCost(usage, { input: 3, output: 15, longContext })).toBeCloseTo(6 + 15);
    expect(
      estimateCost({ ...usage, input: 200_000, cacheRead: 0, cacheWrite: 0 }, { input: 3, output: 15, longContext }),
    ).toBeCloseTo(0.6 + 7.5);
  });
});
