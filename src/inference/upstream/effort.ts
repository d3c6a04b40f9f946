import type { ModelRequest, ReasoningEffort } from '../model.ts';
import type { UpstreamTarget } from './dialect.ts';

const RISING: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

/** The wanted effort if it is accepted, else the next lower one, else the lowest; `none` stands for itself only. */
export function fitEffort(wanted: ReasoningEffort, accepted: readonly ReasoningEffort[]): ReasoningEffort {
  const ranks = RISING.filter((effort) => accepted.includes(effort));
  const lower = ranks.filter((effort) => RISING.indexOf(effort) <= RISING.indexOf(wanted));
  const found = lower.findLast((effort) => effort !== 'none' || wanted === 'none');
  return found ?? ranks.find((effort) => effort !== 'none') ?? wanted;
}

/** The request with an effort that the upstream accepts; without an effort if it accepts none. */
export function fitReasoning(request: ModelRequest, target: UpstreamTarget): ModelRequest {
  const { reasoning, ...plain } = request;
  if (reasoning === undefined || target.relays === true) return request;
  if (target.reasoning === false) return plain;
  // The format `generate-content` takes every effort, as a level of its own or as a number of tokens.
  if (reasoning.effort === undefined || target.format === 'generate-content') return request;
  if (target.efforts !== undefined) {
    return { ...plain, reasoning: { ...reasoning, effort: fitEffort(reasoning.effort, target.efforts) } };
  }
  // The messages format takes every effort, as one of its own or as a number of tokens; others rarely know `max`.
  if (target.format === 'messages' || reasoning.effort !== 'max') return request;
  return { ...plain, reasoning: { ...reasoning, effort: 'high' } };
}
