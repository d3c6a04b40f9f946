import type { ModelInfo, ModelUsage } from './model.ts';

/** US dollars. Cached input without a price of its own costs as much as other input. */
export function estimateCost(usage: ModelUsage, price: NonNullable<ModelInfo['price']>): number {
  const fresh = Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite);
  const perMillion =
    fresh * price.input +
    usage.cacheRead * (price.cacheRead ?? price.input) +
    usage.cacheWrite * (price.cacheWrite ?? price.input) +
    usage.output * price.output;
  return perMillion / 1_000_000;
}
