import type { ModelUsage } from '../../model.ts';
import { asCount, asWire } from '../wire.ts';
import type { Wire } from '../wire.ts';

/** Usage of a chunk, wherever this upstream puts it; undefined when there is none. */
export function readChatUsage(chunk: Wire): ModelUsage | undefined {
  const usage = asWire(chunk.usage) ?? asWire(asWire(chunk.x_groq)?.usage);
  if (usage === undefined) return undefined;
  const input = asWire(usage.prompt_tokens_details);
  const output = asWire(usage.completion_tokens_details);
  const prompt = asCount(usage.prompt_tokens);
  const completion = asCount(usage.completion_tokens);
  const reasoning = asCount(output?.reasoning_tokens);
  // Some upstreams count reasoning beside the completion instead of within it; the total tells.
  const beside = reasoning > 0 && asCount(usage.total_tokens) === prompt + completion + reasoning;
  return {
    input: prompt,
    output: beside ? completion + reasoning : completion,
    cacheRead: asCount(input?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens),
    cacheWrite: asCount(input?.cache_write_tokens),
    reasoning,
  };
}
