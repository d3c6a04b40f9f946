/** Families by the model's id; ids of inference profiles begin with a region: `us.anthropic.claude-…`. */

export function isClaude(model: string): boolean {
  return model.includes('claude');
}

export function isNova(model: string): boolean {
  return model.includes('amazon.nova');
}

/** Claude models from 3.7 on cache prompts by breakpoints; other models cache by themselves or not at all. */
export function takesCachePoints(model: string): boolean {
  return /claude-(?:3-7|[a-z]+-[4-9])/.test(model);
}

/** Whether the model's vendor has a field for the reasoning effort. */
export function takesEffort(model: string): boolean {
  return isClaude(model) || model.includes('nova-2') || model.includes('gpt-oss');
}
