import type { ModelMessage, ModelRequest, ReasoningEffort } from '../../model.ts';
import type { UpstreamTarget } from '../dialect.ts';

/** Output limit when neither the caller nor the model's configuration sets one. */
const DEFAULT_MAX_TOKENS = 8192;
const SMALLEST_BUDGET = 1024;

const BUDGETS: Record<Exclude<ReasoningEffort, 'none'>, number> = {
  minimal: 1024,
  low: 4096,
  medium: 10_000,
  high: 24_000,
  xhigh: 32_000,
  max: 32_000,
};

/** Not every model with adaptive thinking knows `xhigh`. */
function nameEffort(level: Exclude<ReasoningEffort, 'none'>, { efforts = [] }: UpstreamTarget): string {
  if (level === 'minimal') return 'low';
  return level === 'xhigh' && !efforts.includes('xhigh') ? 'max' : level;
}

export type Thinking = { maxTokens: number; thinking?: Record<string, unknown>; effort?: string };

/** From version 4.6 on the models decide themselves how long to think, and reject a budget. */
function isAdaptive(model: string): boolean {
  const version = /claude-[a-z]+-(\d+)(?:[-.](\d{1,2}))?(?!\d)/.exec(model);
  return version !== null && Number(version[1]) + Number(version[2] ?? 0) / 100 >= 4.06;
}

/**
 * A tool loop that began without a signed thinking block cannot continue with thinking: the upstream requires each reply
 * of the loop to begin with a thinking block that it signed.
 */
function loopLacksSignature(messages: readonly ModelMessage[], target: UpstreamTarget): boolean {
  const last = messages.findLast((message) => message.role !== 'tool' && message.role !== 'system');
  if (last?.role !== 'assistant' || !last.content.some((part) => part.type === 'tool_call')) return false;
  return !last.content.some((part) => part.type === 'reasoning' && part.issuer === target.name);
}

/** A budget in place of an effort, as the effort nearest to it. */
function readLevel({ effort, budgetTokens }: NonNullable<ModelRequest['reasoning']> = {}): ReasoningEffort | undefined {
  if (effort !== undefined || budgetTokens === undefined) return effort;
  return budgetTokens <= 4096 ? 'low' : 'high';
}

/** Decides `max_tokens`, which the format requires, and a thinking budget below it. */
export function decideThinking(
  request: ModelRequest,
  messages: readonly ModelMessage[],
  target: UpstreamTarget,
): Thinking {
  const ceiling = target.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  const asked = request.maxOutputTokens;
  const plain = { maxTokens: Math.min(asked ?? target.maxOutputTokens ?? DEFAULT_MAX_TOKENS, ceiling) };
  const level = readLevel(request.reasoning);
  // Newer models think unless they are told not to.
  if (level === 'none' && isAdaptive(target.model)) return { ...plain, thinking: { type: 'disabled' } };
  if (level === undefined || level === 'none') return plain;
  const forced = request.toolChoice === 'required' || typeof request.toolChoice === 'object';
  if (forced || loopLacksSignature(messages, target)) return plain;
  const wanted = Math.max(request.reasoning?.budgetTokens ?? BUDGETS[level], SMALLEST_BUDGET);
  const maxTokens = Math.min(asked ?? target.maxOutputTokens ?? DEFAULT_MAX_TOKENS + wanted, ceiling);
  if (isAdaptive(target.model)) {
    // Without `display` the newest models return thinking without text.
    return { maxTokens, thinking: { type: 'adaptive', display: 'summarized' }, effort: nameEffort(level, target) };
  }
  // `max_tokens` includes the budget; when it is too small, half of it stays for the answer.
  const budget = wanted < maxTokens ? wanted : Math.floor(maxTokens / 2);
  if (budget < SMALLEST_BUDGET) return plain;
  return { maxTokens, thinking: { type: 'enabled', budget_tokens: budget } };
}
