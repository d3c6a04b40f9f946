import type { ModelUsage } from '../../model.ts';
import { asCount, asObject } from '../wire.ts';
import type { JsonObject } from '../wire.ts';

/** Reads the usage of a chunk from any of its known places; undefined if there is none. */
export function readChatUsage(chunk: JsonObject): ModelUsage | undefined {
  const usage = asObject(chunk.usage) ?? asObject(asObject(chunk.x_groq)?.usage);
  if (usage === undefined) return undefined;
  const input = asObject(usage.prompt_tokens_details);
  const output = asObject(usage.completion_tokens_details);
  const prompt = asCount(usage.prompt_tokens);
  const completion = asCount(usage.completion_tokens);
  const reasoning = asCount(output?.reasoning_tokens);
  // Some upstreams do not include reasoning in the completion tokens; the total shows which.
  const beside = reasoning > 0 && asCount(usage.total_tokens) === prompt + completion + reasoning;
  return {
    input: prompt,
    output: beside ? completion + reasoning : completion,
    cacheRead: asCount(input?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens),
    cacheWrite: asCount(input?.cache_write_tokens),
    reasoning,
  };
}
