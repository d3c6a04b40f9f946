import type { ModelUsage } from '../../model.ts';
import { asCount, asObject } from '../wire.ts';

/** Prompt tokens include cached ones; thoughts are counted beside the answer. Undefined: the chunk has no count. */
export function readUsage(value: unknown): ModelUsage | undefined {
  const usage = asObject(value);
  if (usage === undefined) return undefined;
  const reasoning = asCount(usage.thoughtsTokenCount);
  return {
    input: asCount(usage.promptTokenCount) + asCount(usage.toolUsePromptTokenCount),
    output: asCount(usage.candidatesTokenCount) + reasoning,
    cacheRead: asCount(usage.cachedContentTokenCount),
    cacheWrite: 0,
    reasoning,
  };
}
