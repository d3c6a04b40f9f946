// Tests: test/gateway/fields/features.test.ts
import { isClaude, isNova, takesCachePoints, takesEffort } from './converse/models.ts';
import type { UpstreamTarget } from './dialect.ts';

/** Properties of a request that some models of a format take and others do not. */
export type ModelFeature = 'effort' | 'top-k' | 'cache';

/** The features that requests for this upstream leave out, although its format has them. */
export function listLacking({ format, model, reasoning, relays }: UpstreamTarget): ModelFeature[] {
  const lacking: ModelFeature[] = [];
  const isConverse = format === 'converse';
  if ((reasoning === false && relays !== true) || (isConverse && !takesEffort(model))) lacking.push('effort');
  if (isConverse && !isClaude(model) && !isNova(model)) lacking.push('top-k');
  if (isConverse && !takesCachePoints(model)) lacking.push('cache');
  return lacking;
}
