import type { ModelInfo, ModelUsage } from './model.ts';

/** US dollars. Cached input costs what the price says of it, and where it says nothing as much as any input. */
export function estimateCost(usage: ModelUsage, price: NonNullable<ModelInfo['price']>): number {
  const fresh = Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite);
  const perMillion =
    fresh * price.input +
    usage.cacheRead * (price.cacheRead ?? price.input) +
    usage.cacheWrite * (price.cacheWrite ?? price.input) +
    usage.output * price.output;
  return perMillion / 1_000_000;
}
