import type { McpTarget } from '../../contract/mcp.ts';
import type { ModelTool } from '../../../inference/model.ts';
import type { McpTool } from './runnable-tool.ts';
import type { ToolOutcome } from '../../tools/tool.ts';

/** A tool of an MCP server as it is offered to the model. */
export type OfferedMcpTool = ModelTool & { target: McpTarget };

/** `reason` is one sentence that quotes no credential. */
export type UnavailableServer = { serverName: string; reason: string };

/** How to use a server, in its own words. */
export type ServerInstructions = { serverName: string; text: string };

/** The enabled MCP servers of a session. */
export type McpPort = {
  /** The same list for a whole turn. A server that does not list its tools within 10 s contributes none. */
  listTools(): Promise<readonly OfferedMcpTool[]>;
  /** The enabled servers without a tool list, the same for a whole turn. */
  listUnavailable(): Promise<readonly UnavailableServer[]>;
  /** What the listed servers say about their use; those that say nothing are left out. The same for a whole turn. */
  listInstructions(): Promise<readonly ServerInstructions[]>;
  /** Always returns an outcome. Throws only the signal's reason. */
  call(target: McpTarget, input: Record<string, unknown>, signal: AbortSignal): Promise<ToolOutcome>;
};

/** The tool of a call, from what the log stores about it. */
export function buildMcpTool(target: McpTarget, port: Pick<McpPort, 'call'>): McpTool {
  return {
    name: target.tool,
    readOnly: target.idempotent,
    target,
    parallelism: () => (target.readOnly ? 'shared' : 'exclusive'),
    run: (input, context) => port.call(target, input, context.signal),
  };
}
