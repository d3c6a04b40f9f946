import { z } from 'zod';
import { CursorPage, Id, SubjectId, Timestamp } from '../../platform/contract/common.ts';

/** One subject of one agent, with what its sessions add up to. */
export const SubjectSummary = z
  .object({
    object: z.literal('subject'),
    agentId: Id,
    subjectId: SubjectId,
    sessions: z.int(),
    lastActivityAt: Timestamp,
    costUsd: z.number().nullable(),
    volumeBytes: z.int().nullable().describe('null where the size of the volume is not known'),
  })
  .meta({ id: 'SubjectSummary' });
export type SubjectSummary = z.infer<typeof SubjectSummary>;

export const SubjectListQuery = CursorPage.extend({
  agentId: Id.optional(),
  q: z.string().min(1).max(200).optional().describe('part of the subject'),
});

export const OrganizationAutomationsQuery = CursorPage.extend({
  agentId: Id.optional(),
  subjectId: SubjectId.optional(),
});

export const SubjectDeleted = z.object({
  object: z.literal('subject.deleted'),
  agentId: Id,
  subjectId: SubjectId,
  deleted: z.literal(true),
  sessions: z.int().describe('sessions deleted by this request'),
});
