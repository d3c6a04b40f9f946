import type { Queryable } from '../../../platform/db/db.ts';
import type { McpCatalog } from '../../contract/mcp-catalog.ts';
import type { McpInstall, McpInstallation } from '../../contract/installations.ts';
import type { ToolConfig } from '../../contract/tools.ts';
import { CapstanError, errors } from '../../../platform/errors.ts';
import { publishVersion } from '../../store/agents.ts';
import type { StoredAgent } from '../../store/agents.ts';
import { insertCredential } from '../../store/credentials.ts';
import { findKeptAnswer, hashBody, keepAnswer } from '../../../platform/store/idempotency.ts';
import type { KeptAnswer } from '../../../platform/store/idempotency.ts';
import type { CauseOptions } from '../../../platform/errors.ts';
import { attachVaults, insertVault, listAgentVaults } from '../../store/vaults.ts';
import { findVersion } from '../../store/versions.ts';
import type { VersionContent } from '../../store/versions.ts';
import { readStatuses } from '../../vaults/resolve.ts';
import { getActiveAgent, getAgent } from '../agents/find.ts';
import { buildAgent } from '../agents/render.ts';
import type { ApiDeps } from '../deps.ts';
import { buildCredential } from '../vaults/credential-routes.ts';
import { archivedVault, getVault } from '../vaults/find.ts';

export type Catalog = McpCatalog;

type Server = { name: string; url: string };

/** Of two concurrent requests with the same key, one is rolled back and returns the other's result. */
class SupersededError extends CapstanError<'superseded'> {
  constructor(message: string, options: CauseOptions = {}) {
    super('superseded', message, { ...options, retryable: true });
  }
}

/** Adds a server, its credential and its permissions in one transaction. The server itself is not asked. */
export async function installServer(
  deps: ApiDeps,
  organizationId: string,
  agentId: string,
  body: McpInstall,
): Promise<unknown> {
  const ref = { organizationId, scope: `mcp:${agentId}`, key: body.idempotencyKey };
  const bodySha256 = hashBody(body);
  const replay = (kept: KeptAnswer): unknown => {
    if (kept.bodySha256 === bodySha256) return kept.response;
    throw errors.conflict('The idempotencyKey was used with another body.');
  };
  const agent = await getAgent(deps.db, organizationId, agentId);
  const kept = await findKeptAnswer(deps.db, ref);
  if (kept !== undefined) return replay(kept);
  const server = findServer(body.connector, deps.mcpCatalog);
  try {
    return await deps.db.transaction(async (tx) => {
      const installation = await install(tx, deps, agent, { server, body });
      const answer = { bodySha256, status: 201, response: installation };
      if (!(await keepAnswer(tx, ref, answer)))
        throw new SupersededError('The same request has been answered meanwhile.');
      return installation;
    });
  } catch (error) {
    // A publication by the same request has come between as well.
    const first = await findKeptAnswer(deps.db, ref);
    if (first !== undefined) return replay(first);
    throw error;
  }
}

function findServer(connector: McpInstall['connector'], catalog: Catalog): Server {
  if (connector.type === 'custom') return { name: connector.name, url: connector.url };
  const entry = catalog.find(({ id }) => id === connector.id);
  if (entry === undefined) throw errors.validation('connector.id: must be the id of an entry of the catalog');
  return { name: entry.name, url: entry.url };
}

async function install(
  tx: Queryable,
  deps: ApiDeps,
  { organizationId, id }: StoredAgent,
  { server, body }: { server: Server; body: McpInstall },
): Promise<McpInstallation> {
  const agent = await getActiveAgent(tx, organizationId, id);
  const base = agent.latestVersion;
  if (body.expectedAgentVersion !== base) throw errors.conflict('The agent is no longer at expectedAgentVersion.');
  const stored = await findVersion(tx, id, base);
  if (stored === undefined) throw errors.notFound('agent');
  if (stored.mcpServers.some(({ name }) => name === server.name)) {
    throw errors.conflict('The agent has an MCP server of that name already.');
  }
  const content = addServer(stored, server, body.defaultPermission);
  if (!(await publishVersion(tx, { id, base, name: agent.name, rateLimits: agent.rateLimits, content }))) {
    throw errors.conflict('The agent was updated at the same time.');
  }
  const vaultId = await provideVault(tx, deps.masterKeys, agent, { server, authentication: body.authentication });
  const connection = (await readStatuses(tx, id, [server.url])).get(server.url);
  return {
    object: 'mcp.installation',
    agent: buildAgent(await getAgent(tx, organizationId, id)),
    version: base + 1,
    mcpServerName: server.name,
    vaultId,
    credentialId: vaultId !== null && connection?.vaultId === vaultId ? connection.credentialId : null,
    status: connection?.status ?? 'public',
  };
}

function addServer(
  content: VersionContent,
  { name, url }: Server,
  permission: McpInstall['defaultPermission'],
): VersionContent {
  const toolset: ToolConfig = {
    type: 'mcp_toolset',
    mcpServerName: name,
    defaultConfig: { enabled: true, permissionPolicy: { type: permission } },
  };
  // One that was left behind by an earlier server of the name would be in the way.
  const others = content.tools.filter((tool) => tool.type !== 'mcp_toolset' || tool.mcpServerName !== name);
  return {
    ...content,
    mcpServers: [...content.mcpServers, { type: 'url', name, url }],
    tools: [...others, toolset],
  };
}

async function provideVault(
  tx: Queryable,
  masterKeys: ApiDeps['masterKeys'],
  { organizationId, id }: StoredAgent,
  { server, authentication }: { server: Server; authentication: McpInstall['authentication'] },
): Promise<string | null> {
  if (authentication.type === 'none') return null;
  if (authentication.type === 'existing_vault') {
    const vault = await getVault(tx, organizationId, authentication.vaultId);
    if (vault.archivedAt !== null) throw archivedVault();
    const attached = await listAgentVaults(tx, id);
    if (attached.some((other) => other.id === vault.id)) return vault.id;
    throw errors.validation('authentication.vaultId: must be attached to the agent');
  }
  const displayName = server.name;
  const vault = await insertVault(tx, { organizationId, displayName, metadata: {} });
  const auth = { type: 'static_bearer', mcpServerUrl: server.url, token: authentication.token } as const;
  await insertCredential(tx, organizationId, buildCredential(masterKeys, vault.id, { displayName, auth }));
  await attachVaults(tx, id, [vault.id]);
  return vault.id;
}
