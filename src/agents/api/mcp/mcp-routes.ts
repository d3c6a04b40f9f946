import type { FastifyInstance } from 'fastify';
import { mcpRoutes } from '../../contract/routes/mcp.ts';
import { getAgent } from '../agents/find.ts';
import type { ApiDeps } from '../deps.ts';
import { registerRoute } from '../../../platform/http/route.ts';
import { installServer } from './install.ts';
import { testServer } from './test-server.ts';

export function registerMcpRoutes(app: FastifyInstance, deps: ApiDeps): void {
  registerRoute(app, deps, mcpRoutes.testMcpServer, async ({ params, caller }) => {
    const agent = await getAgent(deps.db, caller.organizationId, params.agentId);
    return { status: 200, body: await testServer(deps, agent, params.serverName) };
  });

  registerRoute(app, deps, mcpRoutes.installMcpServer, async ({ params, body, caller }) => ({
    status: 201,
    body: await installServer(deps, caller.organizationId, params.agentId, body),
  }));
}
