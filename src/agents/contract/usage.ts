import { z } from 'zod';

/** Token counts, model calls and estimated cost; `context_*` describes the window at the end of the turn. */
export const Usage = z
  .object({
    model: z.string().optional(),
    input: z.int().optional().describe('includes cached tokens'),
    output: z.int().optional().describe('includes reasoning tokens'),
    cache_read: z.int().optional(),
    cache_write: z.int().optional(),
    reasoning: z.int().optional(),
    total: z.int().optional(),
    calls: z.int().optional(),
    context_used: z.int().optional(),
    context_max: z.int().optional(),
    context_percent: z.number().optional(),
    cost_usd: z.number().optional().describe('omitted when pricing is unavailable'),
    cost_status: z.enum(['estimated', 'included', 'unknown']).optional(),
    last_turn_latency_ms: z.number().optional(),
    latency_ms: z.number().optional(),
  })
  .meta({ id: 'Usage' });
export type Usage = z.infer<typeof Usage>;

/** What adds up over the turns of a session. */
export const USAGE_COUNTS = [
  'input',
  'output',
  'cache_read',
  'cache_write',
  'reasoning',
  'total',
  'calls',
  'cost_usd',
] as const;

/** A turn's usage as what is added to the session's and what replaces the session's. */
export function splitUsage(turn: Usage): { usageAdd: Usage; usage: Usage } {
  const usageAdd: Usage = {};
  const usage: Usage = { ...turn };
  for (const field of USAGE_COUNTS) {
    if (turn[field] !== undefined) usageAdd[field] = turn[field];
    delete usage[field];
  }
  return { usageAdd, usage };
}
