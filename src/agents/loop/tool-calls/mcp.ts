import type { McpTarget } from '../../contract/mcp.ts';
import type { ModelTool } from '../../../inference/model.ts';
import type { RunnableTool } from './toolbox.ts';
import type { ToolOutcome } from '../../tools/tool.ts';

/** A tool of an MCP server as the model is offered it. */
export type OfferedMcpTool = ModelTool & { target: McpTarget };

/** The MCP servers of a session, as far as they are enabled. */
export type McpPort = {
  /** The same for a whole turn. A server that does not answer in a moment has no tools in it. */
  listTools(): Promise<readonly OfferedMcpTool[]>;
  /** Whatever the server does, an outcome; throws only the signal's reason. */
  call(target: McpTarget, input: Record<string, unknown>, signal: AbortSignal): Promise<ToolOutcome>;
};

export type McpTool = RunnableTool & { target: McpTarget };

/** The tool that a call is for, known from the log alone. */
export function buildMcpTool(target: McpTarget, port: McpPort): McpTool {
  return {
    name: target.tool,
    readOnly: target.idempotent,
    target,
    parallelism: () => (target.readOnly ? 'shared' : 'exclusive'),
    run: (input, context) => port.call(target, input, context.signal),
  };
}
