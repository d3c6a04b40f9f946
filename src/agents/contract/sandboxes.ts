import { z } from 'zod';
import { CursorPage, Id, SubjectId, Timestamp } from '../../platform/contract/common.ts';

/** The sandbox of one session, while it has one: an idle sandbox ends, and the next call starts another. */
export const Sandbox = z
  .object({
    object: z.literal('sandbox'),
    sessionId: Id,
    sessionTitle: z.string().nullable(),
    sessionStatus: z.enum(['idle', 'running', 'waiting_on_human', 'archived']).nullable(),
    agentId: Id,
    agentName: z.string().nullable(),
    subjectId: SubjectId,
    phase: z.enum(['starting', 'running', 'stopping', 'failed']),
    reason: z.string().nullable().describe('why it does not run, as the cluster says it'),
    node: z.string().nullable().describe('null outside Kubernetes, as is `pod`'),
    pod: z.string().nullable(),
    startedAt: Timestamp.nullable(),
    volume: z
      .object({ usedBytes: z.int(), sizeBytes: z.int() })
      .nullable()
      .describe("the subject's files, which several sessions may share; null where they are not counted yet"),
  })
  .meta({ id: 'Sandbox' });
export type Sandbox = z.infer<typeof Sandbox>;

export const SandboxListQuery = CursorPage.extend({
  agentId: Id.optional(),
  subjectId: SubjectId.optional(),
});

export const SandboxStopped = z
  .object({ object: z.literal('sandbox.stopped'), sessionId: Id, stopped: z.literal(true) })
  .meta({ id: 'SandboxStopped' });
