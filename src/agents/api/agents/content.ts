import { DEFAULT_TOOLS, toolIdentity } from '../../contract/tools.ts';
import type { AgentCreate, AgentPatch, McpServer, Role } from '../../contract/agents.ts';
import type { ToolConfig } from '../../contract/tools.ts';
import type { VersionContent } from '../../store/versions.ts';

/** Replaces a matching entry in place, appends a new one and keeps the others. */
export function mergeByIdentity<T>(
  stored: readonly T[],
  supplied: readonly T[] | undefined,
  identify: (item: T) => string,
): T[] {
  const merged = new Map(stored.map((item) => [identify(item), item]));
  for (const item of supplied ?? []) merged.set(identify(item), item);
  return [...merged.values()];
}

function byName(item: { name: string }): string {
  return item.name;
}

/** The version that a create or full replacement body describes. */
export function buildContent(body: AgentCreate): VersionContent {
  return {
    modelName: body.modelName,
    systemPrompt: body.systemPrompt,
    skills: body.skills,
    tools: body.tools.length === 0 ? DEFAULT_TOOLS : body.tools,
    roles: body.roles,
    mcpServers: body.mcpServers,
    environment: body.environment ?? null,
    reasoning: body.reasoning ?? null,
    metadata: body.metadata ?? {},
  };
}

/** The version that a partial update makes of the one before. */
export function mergeContent(stored: VersionContent, patch: AgentPatch): VersionContent {
  return {
    modelName: patch.modelName ?? stored.modelName,
    systemPrompt: patch.systemPrompt ?? stored.systemPrompt,
    skills: mergeByIdentity(stored.skills, patch.skills, byName),
    tools: mergeByIdentity(stored.tools, patch.tools, toolIdentity),
    roles: mergeByIdentity(stored.roles, patch.roles, byName),
    mcpServers: mergeByIdentity(stored.mcpServers, patch.mcpServers, byName),
    environment: patch.environment ?? stored.environment,
    reasoning: patch.reasoning === undefined ? stored.reasoning : patch.reasoning,
    metadata: patch.metadata ?? stored.metadata,
  };
}

function listMissing(tools: readonly ToolConfig[], names: ReadonlySet<string>, path: string): string[] {
  return tools.flatMap((tool, index) =>
    tool.type === 'mcp_toolset' && !names.has(tool.mcpServerName) ? [`${path}[${index}].mcpServerName`] : [],
  );
}

/** Paths of supplied MCP toolsets whose server the resulting version does not have. */
export function listDanglingToolsets(
  supplied: { tools?: readonly ToolConfig[] | undefined; roles?: readonly Role[] | undefined },
  servers: readonly McpServer[],
): string[] {
  const names = new Set(servers.map(byName));
  const roles = supplied.roles ?? [];
  return [
    ...listMissing(supplied.tools ?? [], names, 'tools'),
    ...roles.flatMap((role, index) => listMissing(role.tools, names, `roles[${index}].tools`)),
  ];
}

/** `<provider>/<model>` or a name that the configuration knows. */
export function isModelName(name: string, models: { has(name: string): boolean }): boolean {
  return /^[^\s/]+\/\S+$/.test(name) || models.has(name);
}
