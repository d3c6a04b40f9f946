import type { McpPort, OfferedMcpTool } from '../loop/tool-calls/mcp.ts';
import { findMcpPolicy } from '../loop/tool-calls/policy.ts';
import type { McpToolset, ToolConfig } from '../contract/tools.ts';
import type { Mcp } from '../mcp/mcp.ts';
import { buildTools } from '../mcp/tools.ts';
import type { Claim } from '../store/leases.ts';
import type { Vaults } from '../vaults/resolve.ts';

type Deps = { mcp: Mcp; vaults: Vaults };

/** The MCP servers of a session for one turn: those that its tool configs enable. */
export function buildMcpPort(claim: Claim, toolConfigs: readonly ToolConfig[], deps: Deps): McpPort {
  const { agentId, sessionId, version, versionId } = claim;
  const servers = version.mcpServers.map(({ name, url }) => ({ agentId, name, url }));
  const enabled = toolConfigs.filter((config): config is McpToolset => config.type === 'mcp_toolset' && isOn(config));

  const listServer = async (config: McpToolset, credentials: Map<string, { credentialId: string | null }>) => {
    const server = servers.find(({ name }) => name === config.mcpServerName);
    if (server === undefined) return [];
    const credentialId = credentials.get(server.url)?.credentialId ?? 'none';
    const listing = await deps.mcp.findListing(`${versionId}/${credentialId}`, server);
    if (listing === undefined) return [];
    const { resources = false, prompts = false } = config;
    return buildTools(server.name, listing, { resources, prompts });
  };

  const list = async (): Promise<readonly OfferedMcpTool[]> => {
    if (enabled.length === 0) return [];
    const urls = servers.map(({ url }) => url);
    const credentials = await deps.vaults.readStatuses(agentId, urls);
    return (await Promise.all(enabled.map((config) => listServer(config, credentials)))).flat();
  };

  let listed: Promise<readonly OfferedMcpTool[]> | undefined;
  return {
    listTools: () => (listed ??= list()),
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
