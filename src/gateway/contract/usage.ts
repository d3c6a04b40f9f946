import { z } from 'zod';

const UsageSums = z.object({
  requests: z.int(),
  failures: z.int(),
  inputTokens: z.int(),
  cachedInputTokens: z.int(),
  cacheWriteTokens: z.int(),
  outputTokens: z.int(),
  reasoningTokens: z.int(),
  toolCalls: z.int(),
  sandboxSeconds: z.number().describe('how long tools ran in sandboxes'),
  credits: z.number().describe('of videos'),
  costUsd: z.number().describe('by the prices at the time of each call'),
  latencyMs: z.number().describe('sum over all requests'),
  p50LatencyMs: z.number().nullable().describe('estimated'),
  p95LatencyMs: z.number().nullable().describe('estimated'),
});

export const ModelUsageList = z
  .object({
    object: z.literal('list'),
    data: z.array(
      UsageSums.extend({
        model: z.string().nullable(),
        keyId: z.string().nullable(),
        day: z.string().nullable(),
        hour: z.string().nullable(),
        agentId: z.string().nullable(),
        subjectId: z.string().nullable(),
        sessionId: z.string().nullable(),
        automationId: z.string().nullable(),
        userId: z.string().nullable(),
        product: z.string().nullable(),
        metadata: z.string().nullable().describe('the value of the field that `groupBy` names'),
      }).loose(),
    ),
    totals: UsageSums.describe('over all pages'),
    timeZone: z.literal('UTC'),
    pagination: z.object({ limit: z.int(), hasMore: z.boolean(), nextCursor: z.string().nullable() }),
  })
  .meta({ id: 'ModelUsageList' });

/** Parameters besides `from` and `to`, with their descriptions. */
export const USAGE_PARAMETERS: readonly [name: string, description: string][] = [
  ['source', '`gateway` (default), `agents`, `video`, `login` or `all`'],
  [
    'groupBy',
    'separated by commas: model, key, day, hour, agent, subject, session, automation, user, product, metadata.<key>',
  ],
  ['filter', 'separated by commas: `agent:agt_…`, `model:openai/gpt-5`, …'],
  ['order', '`time` (default, newest first), `cost`, `requests` or `tokens`, highest first'],
  ['limit', 'at most 10,000 (default)'],
  ['cursor', '`nextCursor` of the page before'],
];
