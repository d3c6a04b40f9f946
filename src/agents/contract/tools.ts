import { z } from 'zod';
import { uniqueBy } from '../../platform/contract/common.ts';
import { BUILTIN_TOOL_NAMES, TOOLSET_NAMES } from './toolsets.ts';

/** Who may answer an approval: `role:<role>` and above, `group:<name>` of the identity provider, `user:<email or id>`. */
export const Approver = z
  .string()
  .max(330)
  .regex(
    /^(?:role:(?:viewer|approver|builder|operator|admin|owner)|group:.{1,256}|user:.{1,320})$/,
    'must be `role:<role>`, `group:<name>` or `user:<email or id>`',
  );

export const PermissionPolicy = z
  .object({
    type: z.enum(['always_allow', 'always_ask', 'always_deny']),
    approvers: z
      .array(Approver)
      .min(1)
      .max(50)
      .optional()
      .describe('who may answer; absent: whoever may answer at all'),
    separationOfDuties: z
      .boolean()
      .optional()
      .describe('whoever sent the prompt may not answer, nor the person who is the subject'),
  })
  .refine(
    ({ type, approvers, separationOfDuties }) =>
      type === 'always_ask' || (approvers === undefined && separationOfDuties !== true),
    '`approvers` and `separationOfDuties` need the type `always_ask`',
  )
  .meta({ id: 'PermissionPolicy' });
export type PermissionPolicy = z.infer<typeof PermissionPolicy>;

const ToolDefaults = z.object({
  enabled: z.boolean().optional(),
  permissionPolicy: PermissionPolicy.optional(),
});

export const AgentToolset = z
  .object({
    type: z.literal('agent_toolset'),
    defaultConfig: ToolDefaults.optional(),
    configs: z
      .array(ToolDefaults.extend({ name: z.enum(TOOLSET_NAMES) }))
      .max(100)
      .superRefine(uniqueBy((config) => config.name))
      .optional(),
  })
  .meta({ id: 'AgentToolset' });
export type AgentToolset = z.infer<typeof AgentToolset>;

export const McpToolset = z
  .object({
    type: z.literal('mcp_toolset'),
    mcpServerName: z.string().min(1).max(200),
    defaultConfig: ToolDefaults.optional(),
    configs: z
      .array(ToolDefaults.extend({ name: z.string().min(1).max(200) }))
      .max(1000)
      .superRefine(uniqueBy((config) => config.name))
      .optional(),
    resources: z.boolean().optional(),
    prompts: z.boolean().optional(),
  })
  .meta({ id: 'McpToolset' });
export type McpToolset = z.infer<typeof McpToolset>;

/** An action of the caller's application. The name is what the model sees, so it follows the providers' common rule. */
export const CustomTool = z
  .object({
    type: z.literal('custom_tool'),
    name: z
      .string()
      .min(1)
      .max(64)
      .regex(/^[A-Za-z0-9_-]+$/, 'must hold only letters, digits, "_" and "-"')
      .refine((name) => !BUILTIN_TOOL_NAMES.includes(name), 'must not be the name of a built-in tool'),
    description: z.string().max(20_000),
    input_schema: z
      .record(z.string(), z.unknown())
      .refine((schema) => schema['type'] === undefined || schema['type'] === 'object', 'must be of type "object"'),
    enabled: z.boolean().optional(),
    permissionPolicy: PermissionPolicy.optional(),
  })
  .meta({ id: 'CustomTool' });
export type CustomTool = z.infer<typeof CustomTool>;

export const ToolConfig = z
  .discriminatedUnion('type', [AgentToolset, McpToolset, CustomTool])
  .meta({ id: 'ToolConfig' });
export type ToolConfig = z.infer<typeof ToolConfig>;

/** What makes two tool configs the same one when an update is merged. */
export function toolIdentity(tool: ToolConfig): string {
  switch (tool.type) {
    case 'agent_toolset':
      return 'agent_toolset';
    case 'mcp_toolset':
      return `mcp_toolset/${tool.mcpServerName}`;
    case 'custom_tool':
      return `custom_tool/${tool.name}`;
  }
}

/** The value returned for an agent with an empty `tools` array. */
export const DEFAULT_TOOLS: ToolConfig[] = [
  { type: 'agent_toolset', defaultConfig: { enabled: true, permissionPolicy: { type: 'always_ask' } }, configs: [] },
];

export const ToolConfigs = z.array(ToolConfig).max(1000).superRefine(uniqueBy(toolIdentity));
