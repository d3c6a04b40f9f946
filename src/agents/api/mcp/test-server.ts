import { sendServerAnswered } from '../../channels.ts';
import type { McpTest } from '../../contract/installations.ts';
import { errors } from '../../../platform/errors.ts';
import { UnsealError } from '../../../platform/master-key.ts';
import { McpServerError } from '../../mcp/mcp-error.ts';
import type { ServerListing } from '../../mcp/tools.ts';
import type { StoredAgent } from '../../store/agents.ts';
import type { ApiDeps } from '../deps.ts';

/** Connects as a session of the latest version would. What the server does wrong is part of the answer. */
export async function testServer(deps: ApiDeps, agent: StoredAgent, serverName: string): Promise<McpTest> {
  const server = agent.version.mcpServers.find(({ name }) => name === serverName);
  if (server === undefined) throw errors.notFound('MCP server');
  const started = performance.now();
  const result = await readListing(deps, { agentId: agent.id, name: server.name, url: server.url });
  const latencyMs = Math.round(performance.now() - started);
  // Workers that remember a failure try again with the next turn.
  if (result.listing !== undefined) sendServerAnswered(deps.bus, { agentId: agent.id, url: server.url });
  const statuses = await deps.vaults.readStatuses(agent.id, [server.url]);
  const { listing } = result;
  return {
    object: 'mcp.test',
    ok: listing !== undefined,
    serverName,
    status: statuses.get(server.url)?.status ?? 'public',
    latencyMs,
    protocolVersion: listing?.protocolVersion ?? null,
    tools: (listing?.tools ?? []).map(({ name, description }) => ({ name, description })),
    error: result.error,
  };
}

async function readListing(
  { mcp }: ApiDeps,
  server: { agentId: string; name: string; url: string },
): Promise<{ listing?: ServerListing; error: string | null }> {
  try {
    return { listing: await mcp.readListing(server), error: null };
  } catch (error) {
    if (error instanceof McpServerError) return { error: error.message };
    if (error instanceof UnsealError) throw errors.upstreamFailed('The credential cannot be unsealed.', error);
    throw error;
  }
}
