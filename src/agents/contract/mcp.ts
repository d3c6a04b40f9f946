/** What is called of an MCP server: one of its tools, or one of ours that reads its resources or prompts. */
export type McpOperation = 'tool' | 'list_resources' | 'read_resource' | 'list_prompts' | 'get_prompt';

/** Stored with a call in the log, so that the call needs no new listing of the server. */
export type McpTarget = {
  server: string;
  /** the server's own name of the tool, which policies and approvals go by */
  tool: string;
  operation: McpOperation;
  /** changes nothing: may run beside others */
  readOnly: boolean;
  /** running it twice is as good as once */
  idempotent: boolean;
};
