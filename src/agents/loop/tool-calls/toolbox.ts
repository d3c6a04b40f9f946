import type { ToolConfig } from '../../contract/tools.ts';
import { BUILTIN_TOOL_NAMES } from '../../contract/toolsets.ts';
import type { ModelTool } from '../../../inference/model.ts';
import type { OfferedMcpTool } from './mcp.ts';
import type { McpTool } from './runnable-tool.ts';
import { findCustomTool, findMcpPolicy, findToolsetPolicy, readCustomPolicy } from './policy.ts';
import type { ToolPolicy } from './policy.ts';
import { SCRIPT_TOOLS } from '../../tools/execute-code/stubs.ts';
import type { Tool } from '../../tools/tool.ts';

/** What a tool name in a model reply refers to. */
export type FoundTool =
  | { kind: 'builtin'; tool: Tool; policy: ToolPolicy; approvalKey: string }
  | { kind: 'mcp'; tool: McpTool; policy: ToolPolicy; approvalKey: string }
  | { kind: 'custom'; name: string; schema: Record<string, unknown>; policy: ToolPolicy; approvalKey: string }
  | { kind: 'unknown'; similar: readonly string[] };

export function findTool(
  configs: readonly ToolConfig[],
  tools: ReadonlyMap<string, Tool>,
  name: string,
  { mcp, offered = [] }: { mcp?: McpTool | undefined; offered?: readonly string[] } = {},
): FoundTool {
  if (mcp !== undefined) {
    const { server, tool } = mcp.target;
    return { kind: 'mcp', tool: mcp, policy: findMcpPolicy(configs, server, tool), approvalKey: `${server}/${tool}` };
  }
  const tool = tools.get(name);
  if (tool !== undefined) {
    return { kind: 'builtin', tool, policy: findToolsetPolicy(configs, tool.toolset), approvalKey: name };
  }
  const custom = BUILTIN_TOOL_NAMES.includes(name) ? undefined : findCustomTool(configs, name);
  if (custom === undefined) return { kind: 'unknown', similar: findSimilarNames(name, offered) };
  return { kind: 'custom', name, schema: custom.input_schema, policy: readCustomPolicy(custom), approvalKey: name };
}

const MAX_SIMILAR = 5;

/** The names closest to one that no tool has: equal but for case and prefix, containing it, or few letters away. */
export function findSimilarNames(wanted: string, names: readonly string[]): string[] {
  const plain = normalizeName(wanted);
  const score = (name: string): number => {
    const other = normalizeName(name);
    if (other === plain) return 1;
    const part =
      Math.min(other.length, plain.length) >= 3 && (other.includes(plain) || plain.includes(other)) ? 0.7 : 0;
    return Math.max(part, measureSimilarity(plain, other));
  };
  return names
    .map((name) => ({ name, score: score(name) }))
    .filter((each) => each.score >= 0.5)
    .toSorted((left, right) => right.score - left.score)
    .slice(0, MAX_SIMILAR)
    .map(({ name }) => name);
}

/** Models put a namespace before a name, and mix up case and separators. */
function normalizeName(name: string): string {
  const short = name.slice(0, 100);
  return short
    .slice(Math.max(short.lastIndexOf('.'), short.lastIndexOf('/'), short.lastIndexOf(':')) + 1)
    .toLowerCase()
    .replaceAll(/[_\- ]/g, '');
}

/** 1 for equal texts, 0 for texts without a common pair of letters: the Dice coefficient of their pairs. */
function measureSimilarity(left: string, right: string): number {
  const pairsOf = (text: string) =>
    new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, at) => text.slice(at, at + 2)));
  const [first, second] = [pairsOf(left), pairsOf(right)];
  const shared = [...first].filter((pair) => second.has(pair)).length;
  return first.size + second.size === 0 ? 0 : (2 * shared) / (first.size + second.size);
}

/** The tools offered to the model: every enabled one, in a stable order. Disabled tools are not shown. */
export function buildModelTools(
  configs: readonly ToolConfig[],
  tools: ReadonlyMap<string, Tool>,
  offered: ReadonlyMap<string, OfferedMcpTool> = new Map(),
): ModelTool[] {
  const scriptTools = listScriptTools(configs, tools);
  const builtin = [...tools.values()]
    .filter((tool) => findToolsetPolicy(configs, tool.toolset).enabled)
    .map((tool) => ({
      name: tool.name,
      description: tool.describe?.(scriptTools) ?? tool.description,
      parameters: tool.parameters,
    }));
  const custom = configs.flatMap((config) =>
    config.type === 'custom_tool' && readCustomPolicy(config).enabled
      ? [
          {
            name: config.name,
            description: config.description,
            parameters: { type: 'object', properties: {}, ...config.input_schema },
          },
        ]
      : [],
  );
  const mcp = [...offered.values()]
    .filter(({ target }) => findMcpPolicy(configs, target.server, target.tool).enabled)
    .map(({ name, description, parameters }) => ({ name, description, parameters }));
  return [...builtin, ...custom, ...mcp];
}

/** The tools that scripts may call: those that are enabled and not always denied. */
export function listScriptTools(configs: readonly ToolConfig[], tools: ReadonlyMap<string, Tool>): string[] {
  return SCRIPT_TOOLS.filter((name) => {
    const tool = tools.get(name);
    if (tool === undefined) return false;
    const { enabled, policy } = findToolsetPolicy(configs, tool.toolset);
    return enabled && policy !== 'always_deny';
  });
}

/** The tools of MCP servers by the names that the model uses. A custom tool of the same name wins, then the first server. */
export function buildOffered(
  configs: readonly ToolConfig[],
  mcp: readonly OfferedMcpTool[],
): ReadonlyMap<string, OfferedMcpTool> {
  const offered = new Map<string, OfferedMcpTool>();
  for (const tool of mcp) {
    if (findCustomTool(configs, tool.name) === undefined && !offered.has(tool.name)) offered.set(tool.name, tool);
  }
  return offered;
}
