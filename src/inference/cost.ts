import type { ModelUsage, Price } from './model.ts';

/** US dollars. Cached input without a price of its own costs as much as other input. */
export function estimateCost(usage: ModelUsage, listed: Price): number {
  const { longContext } = listed;
  const price = longContext !== undefined && usage.input > longContext.from ? longContext : listed;
  const fresh = Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite);
  const perMillion =
    fresh * price.input +
    usage.cacheRead * (price.cacheRead ?? price.input) +
    usage.cacheWrite * (price.cacheWrite ?? price.input) +
    usage.output * price.output;
  return perMillion / 1_000_000;
}
