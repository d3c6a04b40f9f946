import { z } from 'zod';
import { Id } from '../../../platform/contract/common.ts';
import { McpInstall, McpInstallation, McpTest } from '../installations.ts';
import { defineRoute } from '../../../platform/contract/route.ts';

const AgentParams = z.object({ agentId: Id });
const write = { tag: 'MCP servers', scope: 'agents:write' } as const;

export const mcpRoutes = {
  testMcpServer: defineRoute({
    ...write,
    id: 'testMcpServer',
    method: 'POST',
    path: '/v1/agents/{agentId}/mcp/{serverName}/test',
    summary: 'Connect to an MCP server of the latest version and list its tools',
    params: AgentParams.extend({ serverName: z.string().min(1).max(200) }),
    responses: { 200: McpTest },
    errors: ['not_found', 'upstream_failed'],
  }),
  installMcpServer: defineRoute({
    ...write,
    scope: 'agents:deploy',
    id: 'installMcpServer',
    method: 'POST',
    path: '/v1/agents/{agentId}/mcp/installations',
    summary: 'Add an MCP server with its credential and permissions: publishes a version, leaves production alone',
    params: AgentParams,
    body: McpInstall,
    responses: { 201: McpInstallation },
    errors: ['not_found', 'conflict', 'invalid_state'],
  }),
};
