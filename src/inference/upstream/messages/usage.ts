import type { ModelUsage } from '../../model.ts';
import { asCount, asObject } from '../wire.ts';

/**
 * Merges the usage of a message's start and end. Counts are cumulative, and some upstreams send 0 at one of the two, so the
 * larger one counts. The upstream's `input_tokens` exclude cached tokens; ours include them.
 */
export function buildUsageCount() {
  const seen = { fresh: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  return {
    add(value: unknown): void {
      const usage = asObject(value);
      if (usage === undefined) return;
      seen.fresh = Math.max(seen.fresh, asCount(usage.input_tokens));
      seen.output = Math.max(seen.output, asCount(usage.output_tokens));
      seen.cacheRead = Math.max(seen.cacheRead, asCount(usage.cache_read_input_tokens));
      seen.cacheWrite = Math.max(seen.cacheWrite, asCount(usage.cache_creation_input_tokens));
      seen.reasoning = Math.max(seen.reasoning, asCount(asObject(usage.output_tokens_details)?.thinking_tokens));
    },
    total(): ModelUsage {
      const { fresh, output, cacheRead, cacheWrite, reasoning } = seen;
      return { input: fresh + cacheRead + cacheWrite, output, cacheRead, cacheWrite, reasoning };
    },
  };
}
