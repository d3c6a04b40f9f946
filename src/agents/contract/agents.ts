import { z } from 'zod';
import { Id, Metadata, AnyPage, Timestamp, deletedBody, uniqueBy } from '../../platform/contract/common.ts';
import { Reasoning } from './reasoning.ts';
import { ToolConfig, ToolConfigs } from './tools.ts';

export const RateLimits = z
  .object({ conversationsPerMinute: z.int(), messagesPerMinute: z.int() })
  .meta({ id: 'RateLimits' });
export type RateLimits = z.infer<typeof RateLimits>;

export const DEFAULT_RATE_LIMITS: RateLimits = { conversationsPerMinute: 5, messagesPerMinute: 100 };

export const RateLimitsInput = z.object({
  conversationsPerMinute: z.int().min(1).max(300).optional(),
  messagesPerMinute: z.int().min(1).max(1000).optional(),
});

export const Skill = z
  .object({
    name: z.string().min(1).max(200),
    content: z
      .string()
      .min(1)
      .max(100_000)
      .refine((text) => text.trim() !== '', 'must not be blank'),
  })
  .meta({ id: 'Skill' });
export type Skill = z.infer<typeof Skill>;

export const Role = z
  .object({ name: z.string().min(1).max(200), description: z.string().max(20_000).optional(), tools: ToolConfigs })
  .meta({ id: 'Role' });
export type Role = z.infer<typeof Role>;

/** Of a server that callers name: http or https, and no credentials inside. */
export const ServerUrl = z
  .url({ protocol: /^https?$/ })
  .max(2048)
  .refine((url) => {
    const parsed = URL.parse(url);
    return parsed === null || (parsed.username === '' && parsed.password === '');
  }, 'must not contain credentials');

export const McpServer = z
  .object({ type: z.literal('url'), name: z.string().min(1).max(200), url: ServerUrl })
  .meta({ id: 'McpServer' });
export type McpServer = z.infer<typeof McpServer>;

const Skills = z
  .array(Skill)
  .max(1000)
  .superRefine(uniqueBy((skill) => skill.name));
const Roles = z
  .array(Role)
  .max(1000)
  .superRefine(uniqueBy((role) => role.name));
const McpServers = z
  .array(McpServer)
  .max(1000)
  .superRefine(uniqueBy((server) => server.name));

/** Where the sandboxes of an agent run. */
export const AgentEnvironment = z
  .object({
    sandboxClass: z
      .string()
      .max(63)
      .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'must be the name of a SandboxClass')
      .nullable()
      .describe('Name of the SandboxClass on Kubernetes; null: the default. Ignored elsewhere.'),
  })
  .meta({ id: 'AgentEnvironment' });
export type AgentEnvironment = z.infer<typeof AgentEnvironment>;

/** `<provider>/<model>`, or a name that the configuration's `models` defines (checked by the service). */
const ModelName = z.string().min(1).max(500);
const ExpectedVersion = z.int().min(0).optional();

export const AgentCreate = z
  .object({
    name: z.string().min(1).max(256),
    modelName: ModelName,
    systemPrompt: z.string().max(1_000_000),
    skills: Skills,
    tools: ToolConfigs,
    roles: Roles.default([]),
    mcpServers: McpServers.default([]),
    environment: AgentEnvironment.optional(),
    reasoning: Reasoning.nullish().describe("null: the provider's default"),
    rateLimits: RateLimitsInput.optional(),
    metadata: Metadata.optional(),
  })
  .meta({ id: 'AgentCreate' });
export type AgentCreate = z.infer<typeof AgentCreate>;

export const AgentReplace = AgentCreate.extend({ expectedVersion: ExpectedVersion }).meta({ id: 'AgentReplace' });
export type AgentReplace = z.infer<typeof AgentReplace>;

export const AgentPatch = z
  .object({
    name: z.string().min(1).max(256).optional(),
    modelName: ModelName.optional(),
    systemPrompt: z.string().max(1_000_000).optional(),
    skills: Skills.optional(),
    tools: ToolConfigs.optional(),
    roles: Roles.optional(),
    mcpServers: McpServers.optional(),
    environment: AgentEnvironment.optional(),
    reasoning: Reasoning.nullable().optional(),
    metadata: Metadata.optional(),
    expectedVersion: ExpectedVersion,
  })
  .refine(
    (body) => Object.entries(body).some(([key, value]) => key !== 'expectedVersion' && value !== undefined),
    'must change at least one field',
  )
  .meta({ id: 'AgentPatch' });
export type AgentPatch = z.infer<typeof AgentPatch>;

export const RateLimitsPatch = RateLimitsInput.refine(
  (body) => body.conversationsPerMinute !== undefined || body.messagesPerMinute !== undefined,
  'must change at least one field',
).meta({ id: 'RateLimitsPatch' });

/** Immutable. `skills` shows names only; the Markdown stays inside. */
export const AgentVersion = z
  .object({
    id: Id,
    version: z.int(),
    modelName: z.string(),
    systemPrompt: z.string(),
    skills: z.array(z.string()),
    roles: z.array(Role),
    mcpServers: z.array(McpServer),
    environment: AgentEnvironment,
    reasoning: Reasoning.nullable().describe("null: the provider's default"),
    metadata: Metadata,
    createdAt: Timestamp,
  })
  .meta({ id: 'AgentVersion' });
export type AgentVersion = z.infer<typeof AgentVersion>;

export const AgentVersionFull = AgentVersion.extend({
  object: z.literal('agent.version'),
  tools: z.array(ToolConfig),
}).meta({ id: 'AgentVersionFull' });
export type AgentVersionFull = z.infer<typeof AgentVersionFull>;

export const Agent = z
  .object({
    object: z.literal('agent'),
    id: Id,
    name: z.string(),
    status: z.enum(['active', 'archived']),
    metadata: Metadata,
    rateLimits: RateLimits,
    productionVersion: z.int(),
    version: AgentVersion,
    tools: z.array(ToolConfig),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    warnings: z
      .array(z.object({ field: z.string(), message: z.string() }))
      .optional()
      .describe('in answers to changes: what was accepted but does not work yet'),
  })
  .meta({ id: 'Agent' });
export type Agent = z.infer<typeof Agent>;

export const VersionPointer = z.object({ version: z.int().min(0) }).meta({ id: 'VersionPointer' });

export const ProductionPointer = z
  .object({ label: z.literal('production'), version: z.int(), agentVersionId: Id })
  .meta({ id: 'ProductionPointer' });

export const TagName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 letters, digits, ".", "_" or "-"')
  .refine((name) => name.toLowerCase() !== 'production', 'is reserved');

export const AgentTag = z
  .object({
    object: z.literal('agent.tag'),
    name: z.string(),
    version: z.int(),
    agentVersionId: Id,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'AgentTag' });
export type AgentTag = z.infer<typeof AgentTag>;

export const AgentListQuery = AnyPage.extend({ status: z.enum(['active', 'archived']).optional() });

export const AgentDeleted = deletedBody('agent.deleted');
export const TagDeleted = z.object({
  object: z.literal('agent.tag.deleted'),
  name: z.string(),
  deleted: z.literal(true),
});

/** A tool that one subject of an agent has approved for good. */
export const StandingApproval = z
  .object({ object: z.literal('approval'), tool: z.string(), createdAt: Timestamp })
  .meta({ id: 'StandingApproval' });
export type StandingApproval = z.infer<typeof StandingApproval>;
export const ApprovalDeleted = z.object({
  object: z.literal('approval.deleted'),
  tool: z.string(),
  deleted: z.literal(true),
});
