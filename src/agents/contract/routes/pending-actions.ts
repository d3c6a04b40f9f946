import { z } from 'zod';
import { Id, SubjectId, cursorListOf, queryList } from '../../../platform/contract/common.ts';
import { defineRoute } from '../../../platform/contract/route.ts';
import { OpenAction, OpenActionQuery } from '../pending-actions.ts';

const read = { scope: 'agents:read' } as const;

export const pendingActionRoutes = {
  listPendingActions: defineRoute({
    ...read,
    orScope: 'agents:approve',
    id: 'listPendingActions',
    method: 'GET',
    path: '/v1/pending-actions',
    tag: 'Pending actions',
    summary: 'What waits for people in all sessions of the organization: approvals, questions, custom tool calls',
    query: OpenActionQuery,
    responses: { 200: cursorListOf(OpenAction) },
    errors: [],
  }),
  getPendingAction: defineRoute({
    ...read,
    orScope: 'agents:approve',
    id: 'getPendingAction',
    method: 'GET',
    path: '/v1/pending-actions/{actionId}',
    tag: 'Pending actions',
    summary: 'One of them, also after it was answered; answers are sent as events of the session',
    params: z.object({ actionId: Id }),
    responses: { 200: OpenAction },
    errors: ['not_found'],
  }),
  streamOrganizationEvents: defineRoute({
    ...read,
    id: 'streamOrganizationEvents',
    method: 'GET',
    path: '/v1/events/stream',
    tag: 'Events',
    summary: 'Server-Sent Events of the whole organization, without content; `reset` where a stream cannot resume',
    query: z.object({
      types: queryList(z.string().min(1).max(100)).optional().describe('only events of these types'),
      agentId: Id.optional(),
      subjectId: SubjectId.optional(),
    }),
    headers: [{ name: 'Last-Event-ID', description: 'the last SSE id received; opaque' }],
    responses: { 200: 'stream' },
    errors: [],
  }),
};
