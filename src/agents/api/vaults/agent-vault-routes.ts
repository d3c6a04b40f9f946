import type { FastifyInstance } from 'fastify';
import { vaultRoutes } from '../../contract/routes/vaults.ts';
import type { AgentVaults } from '../../contract/vaults.ts';
import { errors } from '../../../platform/errors.ts';
import type { StoredAgent } from '../../store/agents.ts';
import { listAgentVaults, setAgentVaults } from '../../store/vaults.ts';
import { archivedAgent, getActiveAgent, getAgent } from '../agents/find.ts';
import type { ApiDeps } from '../deps.ts';
import { registerRoute } from '../../../platform/http/route.ts';
import { archivedVault } from './find.ts';

async function describe({ db, vaults }: ApiDeps, agent: StoredAgent): Promise<AgentVaults> {
  const servers = agent.version.mcpServers;
  const [data, statuses] = await Promise.all([
    listAgentVaults(db, agent.id),
    vaults.readStatuses(
      agent.id,
      servers.map(({ url }) => url),
    ),
  ]);
  return {
    object: 'agent.vaults',
    agentId: agent.id,
    updatedAt: agent.updatedAt.toISOString(),
    data,
    connections: servers.map(({ name, url }) => {
      const { status = 'public', vaultId = null, credentialId = null } = statuses.get(url) ?? {};
      return { mcpServerName: name, mcpServerUrl: url, status, vaultId, credentialId };
    }),
  };
}

/** The vaults of an agent, and the credentials that they give its connections. */
export function registerAgentVaultRoutes(app: FastifyInstance, deps: ApiDeps): void {
  const { db } = deps;

  registerRoute(app, deps, vaultRoutes.getAgentVaults, async ({ params, caller }) => ({
    status: 200,
    body: await describe(deps, await getAgent(db, caller.organizationId, params.agentId)),
  }));

  registerRoute(app, deps, vaultRoutes.setAgentVaults, async ({ params, body, caller }) => {
    const { organizationId } = caller;
    const agent = await getActiveAgent(db, organizationId, params.agentId);
    const { vaultIds, expectedUpdatedAt = null } = body;
    const outcome = await db.transaction((tx) =>
      setAgentVaults(tx, { organizationId, agentId: agent.id, vaultIds, expectedUpdatedAt }),
    );
    if (outcome === 'stale') throw errors.conflict('The agent has changed since expectedUpdatedAt.');
    if (outcome === 'missing') throw errors.notFound('vault');
    if (outcome === 'archived') throw archivedVault();
    if (outcome === 'inactive') throw archivedAgent();
    return { status: 200, body: await describe(deps, await getAgent(db, organizationId, agent.id)) };
  });
}
