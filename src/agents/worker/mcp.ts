import { isDeepStrictEqual } from 'node:util';
import type { McpPort, OfferedMcpTool, ServerInstructions, UnavailableServer } from '../loop/tool-calls/mcp.ts';
import { findMcpPolicy } from '../loop/tool-calls/policy.ts';
import type { McpToolset, ToolConfig } from '../contract/tools.ts';
import type { Mcp } from '../mcp/mcp.ts';
import { buildTools } from '../mcp/tools.ts';
import { errorText } from '../../platform/errors.ts';
import type { Db } from '../../platform/db/db.ts';
import type { Logger } from '../../platform/log.ts';
import type { SessionMcpServer } from '../contract/sessions.ts';
import type { ConnectionStatus } from '../contract/vaults.ts';
import { setMcpServers } from '../store/turn-state.ts';
import type { Claim } from '../store/leases.ts';
import type { Connection, Vaults } from '../vaults/resolve.ts';

type Deps = { db: Db; mcp: Mcp; vaults: Vaults; log: Logger };

type Listed = {
  tools: readonly OfferedMcpTool[];
  unavailable: readonly UnavailableServer[];
  instructions: readonly ServerInstructions[];
  servers: readonly SessionMcpServer[];
};

const NOTHING: Listed = { tools: [], unavailable: [], instructions: [], servers: [] };

/** The MCP servers of a session for one turn: those that its tool configs enable. */
export function buildMcpPort(claim: Claim, toolConfigs: readonly ToolConfig[], deps: Deps): McpPort {
  const { agentId, sessionId, version, versionId } = claim;
  const servers = version.mcpServers.map(({ name, url }) => ({ agentId, name, url }));
  const enabled = toolConfigs.filter((config): config is McpToolset => config.type === 'mcp_toolset' && isOn(config));

  const listServer = async (config: McpToolset, connections: Map<string, Connection>): Promise<Listed> => {
    const server = servers.find(({ name }) => name === config.mcpServerName);
    if (server === undefined) return NOTHING;
    const { name } = server;
    const { credentialId = null, revision = null, status = 'public' } = connections.get(server.url) ?? {};
    // Another credential, or another revision of it, may be answered differently: nothing is remembered across.
    const found = await deps.mcp.findListing(`${versionId}/${credentialId}/${revision}`, server);
    if ('unavailable' in found) {
      const reason = found.unavailable;
      const now = isUsable(status) ? 'unavailable' : status;
      return { ...NOTHING, unavailable: [{ serverName: name, reason }], servers: [{ name, status: now, reason }] };
    }
    const { resources = false, prompts = false } = config;
    const { instructions: text } = found.listing;
    return {
      tools: buildTools(name, found.listing, { resources, prompts }),
      unavailable: [],
      instructions: text === '' ? [] : [{ serverName: name, text }],
      servers: [{ name, status, reason: null }],
    };
  };

  const list = async (): Promise<Listed> => {
    if (enabled.length === 0) return NOTHING;
    const urls = servers.map(({ url }) => url);
    const connections = await deps.vaults.readStatuses(agentId, urls);
    const all = await Promise.all(enabled.map((config) => listServer(config, connections)));
    const listed = {
      tools: all.flatMap(({ tools }) => tools),
      unavailable: all.flatMap(({ unavailable }) => unavailable),
      instructions: all.flatMap(({ instructions }) => instructions),
      servers: all.flatMap(({ servers: now }) => now),
    };
    await storeServers(claim, listed.servers, deps);
    return listed;
  };

  let listed: Promise<Listed> | undefined;
  const listOnce = () => (listed ??= list());
  return {
    listTools: async () => (await listOnce()).tools,
    listUnavailable: async () => (await listOnce()).unavailable,
    listInstructions: async () => (await listOnce()).instructions,
    async call(target, input, signal) {
      const server = servers.find(({ name }) => name === target.server);
      if (server === undefined) {
        return { content: JSON.stringify({ error: 'The agent has no such MCP server.' }), isError: true };
      }
      const { operation, tool } = target;
      return await deps.mcp.call({ server, scope: sessionId, operation, tool, input, signal });
    },
  };
}

/** Whether a server with this credential, or without one, could have been asked. */
function isUsable(status: ConnectionStatus): boolean {
  return status === 'public' || status === 'connected';
}

/** A failure to store them must not fail the turn: the next one stores them again. */
async function storeServers(claim: Claim, servers: readonly SessionMcpServer[], { db, log }: Deps): Promise<void> {
  if (isDeepStrictEqual(claim.mcpServers, servers)) return;
  await setMcpServers(db, claim, servers).catch((error: unknown) =>
    log.warn({ sessionId: claim.sessionId, error: errorText(error) }, 'could not store the state of MCP servers'),
  );
}

/** A server of which nothing is enabled is not asked for anything. */
function isOn(config: McpToolset): boolean {
  const names = ['', ...(config.configs ?? []).map(({ name }) => name)];
  return names.some((name) => findMcpPolicy([config], config.mcpServerName, name).enabled);
}
