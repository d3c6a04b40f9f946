import type { McpTarget } from '../../contract/mcp.ts';
import type { Tool } from '../../tools/tool.ts';

/** The part of a tool that running a call needs. */
export type RunnableTool = Pick<Tool, 'name' | 'readOnly' | 'resumable' | 'parallelism' | 'run'>;

/** A tool of an MCP server. */
export type McpTool = RunnableTool & { target: McpTarget };
