import type { McpPort, OfferedMcpTool, ServerInstructions, UnavailableServer } from '../loop/tool-calls/mcp.ts';
import { findMcpPolicy } from '../loop/tool-calls/policy.ts';
import type { McpToolset, ToolConfig } from '../contract/tools.ts';
import type { Mcp } from '../mcp/mcp.ts';
import { buildTools } from '../mcp/tools.ts';
import type { Claim } from '../store/leases.ts';
import type { Connection, Vaults } from '../vaults/resolve.ts';

type Deps = { mcp: Mcp; vaults: Vaults };

type Listed = {
  tools: readonly OfferedMcpTool[];
  unavailable: readonly UnavailableServer[];
  instructions: readonly ServerInstructions[];
};

const NOTHING: Listed = { tools: [], unavailable: [], instructions: [] };

/** The MCP servers of a session for one turn: those that its tool configs enable. */
export function buildMcpPort(claim: Claim, toolConfigs: readonly ToolConfig[], deps: Deps): McpPort {
  const { agentId, sessionId, version, versionId } = claim;
  const servers = version.mcpServers.map(({ name, url }) => ({ agentId, name, url }));
  const enabled = toolConfigs.filter((config): config is McpToolset => config.type === 'mcp_toolset' && isOn(config));

  const listServer = async (config: McpToolset, connections: Map<string, Connection>): Promise<Listed> => {
    const server = servers.find(({ name }) => name === config.mcpServerName);
    if (server === undefined) return NOTHING;
    const { credentialId = null, revision = null } = connections.get(server.url) ?? {};
    // Another credential, or another revision of it, may be answered differently: nothing is remembered across.
    const found = await deps.mcp.findListing(`${versionId}/${credentialId}/${revision}`, server);
    if ('unavailable' in found) {
      return { ...NOTHING, unavailable: [{ serverName: server.name, reason: found.unavailable }] };
    }
    const { resources = false, prompts = false } = config;
    const { instructions: text } = found.listing;
    const instructions = text === '' ? [] : [{ serverName: server.name, text }];
    return { tools: buildTools(server.name, found.listing, { resources, prompts }), unavailable: [], instructions };
  };

  const list = async (): Promise<Listed> => {
    if (enabled.length === 0) return NOTHING;
    const urls = servers.map(({ url }) => url);
    const connections = await deps.vaults.readStatuses(agentId, urls);
    const all = await Promise.all(enabled.map((config) => listServer(config, connections)));
    return {
      tools: all.flatMap(({ tools }) => tools),
      unavailable: all.flatMap(({ unavailable }) => unavailable),
      instructions: all.flatMap(({ instructions }) => instructions),
    };
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

/** A server of which nothing is enabled is not asked for anything. */
function isOn(config: McpToolset): boolean {
  const names = ['', ...(config.configs ?? []).map(({ name }) => name)];
  return names.some((name) => findMcpPolicy([config], config.mcpServerName, name).enabled);
}
