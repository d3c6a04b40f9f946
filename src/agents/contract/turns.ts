import { z } from 'zod';
import { CursorPage, Id, Timestamp } from '../../platform/contract/common.ts';
import { StopReason } from './events.ts';
import { Usage } from './usage.ts';

/** One model call of a turn. */
export const TurnStep = z.object({
  index: z.int().describe('the number of the reply in its turn or subagent, from 1'),
  threadId: Id.nullable().describe('the subagent that made the call'),
  model: z.string(),
  startedAt: Timestamp,
  firstTokenAt: Timestamp.nullable(),
  endedAt: Timestamp,
  usage: Usage,
  toolUseIds: z.array(Id).describe('the calls of tools in the reply'),
  error: z.string().nullable(),
  retries: z.int().describe('failed tries before this one'),
});
export type TurnStep = z.infer<typeof TurnStep>;

export const Turn = z
  .object({
    object: z.literal('turn'),
    id: Id,
    state: z.enum(['running', 'waiting', 'ended']),
    firstSequence: z.int().nullable(),
    lastSequence: z.int().nullable(),
    startedAt: Timestamp,
    endedAt: Timestamp.nullable(),
    stopReason: StopReason.nullable(),
    usage: Usage.nullable(),
    steps: z.array(TurnStep).describe('empty for turns from before steps were recorded'),
  })
  .meta({ id: 'Turn' });
export type Turn = z.infer<typeof Turn>;

export const TurnListQuery = CursorPage.extend({
  order: z.enum(['asc', 'desc']).default('asc').describe('`desc`: the latest turn first'),
});
