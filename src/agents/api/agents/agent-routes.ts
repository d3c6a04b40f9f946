import type { FastifyInstance } from 'fastify';
import { buildAnyList } from '../../../platform/contract/common.ts';
import { agentRoutes } from '../../contract/routes/agents.ts';
import { archiveAgent, listAgents, setRateLimits } from '../../store/agents.ts';
import type { ApiDeps } from '../deps.ts';
import { registerRoute } from '../../../platform/http/route.ts';
import { registerApprovalRoutes } from './approval-routes.ts';
import { archivedAgent, getActiveAgent, getAgent } from './find.ts';
import { createAgent, patchAgent, replaceAgent } from './publish.ts';
import { removeAgent } from './remove.ts';
import { buildAgent, buildChangedAgent } from './render.ts';
import { registerVersionRoutes } from './version-routes.ts';

export function registerAgentRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  registerRoute(app, deps, agentRoutes.listAgents, async ({ query, caller }) => {
    const found = await listAgents(db, caller.organizationId, query);
    return { status: 200, body: buildAnyList(found.rows.map(buildAgent), query, found) };
  });

  registerRoute(app, deps, agentRoutes.createAgent, async ({ body, caller }) => ({
    status: 201,
    body: buildChangedAgent(await createAgent(deps, caller.organizationId, body), deps.models, caller.organizationId),
  }));

  registerRoute(app, deps, agentRoutes.getAgent, async ({ params, caller }) => ({
    status: 200,
    body: buildAgent(await getAgent(db, caller.organizationId, params.agentId)),
  }));

  registerRoute(app, deps, agentRoutes.patchAgent, async ({ params, body, caller }) => ({
    status: 200,
    body: buildChangedAgent(
      await patchAgent(deps, caller.organizationId, params.agentId, body),
      deps.models,
      caller.organizationId,
    ),
  }));

  registerRoute(app, deps, agentRoutes.replaceAgent, async ({ params, body, caller }) => ({
    status: 200,
    body: buildChangedAgent(
      await replaceAgent(deps, caller.organizationId, params.agentId, body),
      deps.models,
      caller.organizationId,
    ),
  }));

  registerRoute(app, deps, agentRoutes.deleteAgent, async ({ params, caller }) => {
    await removeAgent(deps, caller.organizationId, params.agentId);
    return { status: 200, body: { object: 'agent.deleted', id: params.agentId, deleted: true } };
  });

  registerRoute(app, deps, agentRoutes.archiveAgent, async ({ params, caller }) => {
    const agent = await getAgent(db, caller.organizationId, params.agentId);
    await archiveAgent(db, agent.id);
    return { status: 200, body: buildAgent(await getAgent(db, caller.organizationId, agent.id)) };
  });

  registerRoute(app, deps, agentRoutes.setRateLimits, async ({ params, body, caller }) => {
    const agent = await getActiveAgent(db, caller.organizationId, params.agentId);
    if (!(await setRateLimits(db, agent.id, body))) throw archivedAgent();
    return { status: 200, body: buildAgent(await getAgent(db, caller.organizationId, agent.id)) };
  });

  registerVersionRoutes(app, deps);
  registerApprovalRoutes(app, deps);
}
