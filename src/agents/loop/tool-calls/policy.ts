import type { EvaluatedPermission } from '../../contract/events.ts';
import type { AgentToolset, CustomTool, McpToolset, PermissionPolicy, ToolConfig } from '../../contract/tools.ts';
import { EXTRA_TOOLSETS } from '../../contract/toolsets.ts';
import type { ToolsetName } from '../../contract/toolsets.ts';

/** How a version, or the role that a session runs with, treats one tool. */
export type ToolPolicy = {
  enabled: boolean;
  policy: PermissionPolicy['type'];
  /** who may approve its calls; absent: whoever may answer at all */
  approvalRule?: ApprovalRule;
};

export type ApprovalRule = { approvers?: string[]; separationOfDuties?: true };

/** Undefined where a policy limits nobody. */
function readApprovalRule(policy: PermissionPolicy | undefined): ApprovalRule | undefined {
  if (policy?.type !== 'always_ask') return undefined;
  const { approvers, separationOfDuties } = policy;
  if (approvers === undefined && separationOfDuties !== true) return undefined;
  return {
    ...(approvers === undefined ? {} : { approvers }),
    ...(separationOfDuties === true ? { separationOfDuties } : {}),
  };
}

const ABSENT: ToolPolicy = { enabled: false, policy: 'always_deny' };

function readPolicy(
  own: { enabled?: boolean | undefined; permissionPolicy?: PermissionPolicy | undefined } | undefined,
  fallback: AgentToolset['defaultConfig'],
  enabledByDefault = true,
): ToolPolicy {
  const policy = own?.permissionPolicy ?? fallback?.permissionPolicy;
  const approvalRule = readApprovalRule(policy);
  return {
    enabled: own?.enabled ?? (enabledByDefault ? (fallback?.enabled ?? true) : own !== undefined),
    policy: policy?.type ?? 'always_ask',
    ...(approvalRule === undefined ? {} : { approvalRule }),
  };
}

/** A built-in toolset is off when the configs hold no `agent_toolset`; an extra one unless it is configured by name. */
export function findToolsetPolicy(tools: readonly ToolConfig[], toolset: ToolsetName): ToolPolicy {
  const config = tools.find((tool): tool is AgentToolset => tool.type === 'agent_toolset');
  if (config === undefined) return ABSENT;
  const own = config.configs?.find((entry) => entry.name === toolset);
  return readPolicy(own, config.defaultConfig, !EXTRA_TOOLSETS.includes(toolset));
}

export function findMcpPolicy(tools: readonly ToolConfig[], serverName: string, toolName: string): ToolPolicy {
  const config = tools.find(
    (tool): tool is McpToolset => tool.type === 'mcp_toolset' && tool.mcpServerName === serverName,
  );
  if (config === undefined) return ABSENT;
  return readPolicy(
    config.configs?.find((entry) => entry.name === toolName),
    config.defaultConfig,
  );
}

export function findCustomTool(tools: readonly ToolConfig[], name: string): CustomTool | undefined {
  return tools.find((tool): tool is CustomTool => tool.type === 'custom_tool' && tool.name === name);
}

export function readCustomPolicy(tool: CustomTool): ToolPolicy {
  return readPolicy(tool, undefined);
}

export type Verdict = {
  /** what happens to the call */
  action: 'run' | 'ask' | 'deny';
  /** the policy's decision, even if a person allowed the call */
  permission: EvaluatedPermission;
};

/**
 * `always_deny` and disabled tools are denied whatever else is set. `exempt` tools (clarify, todo) touch nothing outside
 * the session and never pause it. Yolo mode stands in for nobody whom a policy names.
 */
export function decidePermission(
  policy: ToolPolicy,
  session: { yoloMode: boolean; approved: boolean; exempt: boolean },
): Verdict {
  if (!policy.enabled || policy.policy === 'always_deny') return { action: 'deny', permission: 'deny' };
  if (policy.policy === 'always_allow' || session.exempt) return { action: 'run', permission: 'allow' };
  const mayRun = session.approved || (session.yoloMode && policy.approvalRule === undefined);
  return { action: mayRun ? 'run' : 'ask', permission: 'ask' };
}
