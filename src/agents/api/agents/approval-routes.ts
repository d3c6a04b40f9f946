import type { FastifyInstance } from 'fastify';
import { buildAnyList } from '../../../platform/contract/common.ts';
import { agentRoutes } from '../../contract/routes/agents.ts';
import { errors } from '../../../platform/errors.ts';
import { deleteApprovals, listApprovals } from '../../store/approvals.ts';
import type { Subject } from '../../store/approvals.ts';
import type { Caller } from '../../../platform/http/deps.ts';
import type { ApiDeps } from '../deps.ts';
import { registerRoute } from '../../../platform/http/route.ts';
import { getAgent } from './find.ts';

/** Tools that a subject has approved for good. */
export function registerApprovalRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;
  const getSubject = async (caller: Caller, params: { agentId: string; subjectId: string }): Promise<Subject> => {
    const agent = await getAgent(db, caller.organizationId, params.agentId);
    return { organizationId: caller.organizationId, agentId: agent.id, subjectId: params.subjectId };
  };

  registerRoute(app, deps, agentRoutes.listApprovals, async ({ params, query, caller }) => {
    const found = await listApprovals(db, await getSubject(caller, params), query);
    return { status: 200, body: buildAnyList(found.rows, query, found) };
  });

  registerRoute(app, deps, agentRoutes.deleteApprovals, async ({ params, caller }) => {
    await deleteApprovals(db, await getSubject(caller, params), null);
    return { status: 200, body: { object: 'approval.deleted', tool: null, deleted: true } };
  });

  registerRoute(app, deps, agentRoutes.deleteApproval, async ({ params, caller }) => {
    const removed = await deleteApprovals(db, await getSubject(caller, params), params.tool);
    if (removed === 0) throw errors.notFound('approval');
    return { status: 200, body: { object: 'approval.deleted', tool: params.tool, deleted: true } };
  });
}
