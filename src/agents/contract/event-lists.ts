import { z } from 'zod';
import { Id, queryInteger, queryList } from '../../platform/contract/common.ts';
import { SessionEvent } from './events.ts';

/** Whether attachments contain data URLs, or metadata and links. */
export const AttachmentView = z.enum(['include', 'omit']);
export type AttachmentView = z.infer<typeof AttachmentView>;

const attachments = AttachmentView.default('include').describe(
  '`omit`: an attachment is `{ type, filename, mediaType, sizeBytes, href }`',
);

export const EventListQuery = z.object({
  after: queryInteger({ min: 0, max: Number.MAX_SAFE_INTEGER, default: 0 }),
  before: queryInteger({ min: 1, max: Number.MAX_SAFE_INTEGER, default: 1 })
    .optional()
    .describe('only events with a lower sequence'),
  order: z.enum(['asc', 'desc']).default('asc').describe('`desc`: the latest first; page with `before`'),
  limit: queryInteger({ min: 1, max: 100, default: 100 }),
  types: queryList(z.string().min(1).max(100)).optional().describe('only events of these types'),
  threadId: Id.optional().describe('only events of this subagent'),
  q: z.string().min(1).max(200).optional().describe('part of the payload, in any case'),
  attachments,
});
export type EventListQuery = z.infer<typeof EventListQuery>;

export const EventQuery = z.object({ attachments });

export const EventStreamQuery = z.object({
  after: queryInteger({ min: 0, max: Number.MAX_SAFE_INTEGER, default: 0 }).optional(),
});

export const EventList = z
  .object({
    object: z.literal('list'),
    data: z.array(SessionEvent),
    pagination: z.object({
      after: z.int().describe('in ascending order the last sequence of the page'),
      before: z.int().optional().describe('in descending order the lowest sequence of the page'),
      hasMore: z.boolean(),
      limit: z.int(),
    }),
  })
  .meta({ id: 'EventList' });

export const EventsAccepted = z
  .object({ object: z.literal('list'), data: z.array(SessionEvent) })
  .meta({ id: 'EventsAccepted' });
