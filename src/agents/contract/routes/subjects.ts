import { z } from 'zod';
import { Id, SubjectId } from '../../../platform/contract/common.ts';
import { defineRoute } from '../../../platform/contract/route.ts';
import { SubjectDeleted } from '../subjects.ts';

const params = z.object({ agentId: Id, subjectId: SubjectId });
const SUBJECT = '/v1/agents/{agentId}/users/{subjectId}';

export const subjectRoutes = {
  deleteSubject: defineRoute({
    tag: 'Subjects',
    scope: 'agents:write',
    id: 'deleteSubject',
    method: 'DELETE',
    path: SUBJECT,
    summary: 'Delete a subject: sessions, memory, approvals, automations and files',
    params,
    responses: { 200: SubjectDeleted },
    errors: ['not_found', 'invalid_state', 'service_delete_failed'],
  }),
  exportSubject: defineRoute({
    tag: 'Subjects',
    scope: 'agents:read',
    id: 'exportSubject',
    method: 'GET',
    path: `${SUBJECT}/export`,
    summary: 'All that is kept about a subject, as a tar archive',
    params,
    responses: { 200: 'binary' },
    errors: ['not_found', 'invalid_state'],
  }),
};
