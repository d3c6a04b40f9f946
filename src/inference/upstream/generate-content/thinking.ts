import type { ModelRequest, ReasoningEffort } from '../../model.ts';
import type { UpstreamTarget } from '../dialect.ts';
import { isAtLeast, readVersion } from './versions.ts';

/** The budgets that Google documents for efforts. */
const BUDGETS: Record<ReasoningEffort, number> = {
  none: 0,
  minimal: 512,
  low: 1024,
  medium: 8192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
};

/** What models of version 2.5 accept; only the larger ones always think. */
function fitBudget(model: string, tokens: number): number {
  if (model.includes('pro')) return Math.min(Math.max(tokens, 128), 32_768);
  return tokens === 0 ? 0 : Math.min(Math.max(tokens, 512), 24_576);
}

function nameLevel(model: string, { effort, budgetTokens = 0 }: NonNullable<ModelRequest['reasoning']>): string {
  const isPro = model.includes('pro');
  const wanted = effort ?? (budgetTokens <= 4096 ? 'low' : 'high');
  switch (wanted) {
    case 'none':
    case 'minimal':
      return isPro ? 'LOW' : 'MINIMAL';
    case 'low':
      return 'LOW';
    case 'medium':
      // The first of the models with levels has two of them.
      return isPro && readVersion(model) === 3 ? 'HIGH' : 'MEDIUM';
    default:
      return 'HIGH';
  }
}

/** Undefined: the model decides. Models from version 3 on have levels, earlier ones a budget of tokens. */
export function decideThinkingConfig(
  { reasoning }: ModelRequest,
  { model }: UpstreamTarget,
): Record<string, unknown> | undefined {
  const { effort, budgetTokens } = reasoning ?? {};
  if (reasoning === undefined || (effort === undefined && budgetTokens === undefined)) return undefined;
  const includeThoughts = effort !== 'none';
  if (isAtLeast(model, 3)) return { includeThoughts, thinkingLevel: nameLevel(model, reasoning) };
  const tokens = budgetTokens ?? BUDGETS[effort ?? 'high'];
  return { includeThoughts, thinkingBudget: fitBudget(model, tokens) };
}
