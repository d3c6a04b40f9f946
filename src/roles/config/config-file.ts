import { z } from 'zod';
import { ModelsConfig, ProvidersConfig } from '../../inference/config.ts';
import { SmtpConfig } from '../../login/contract/mailboxes.ts';
import { LoginMethod } from '../../login/contract/shapes.ts';
import { OidcConfig } from '../../platform/contract/oidc.ts';
import { HookConfig } from '../../gateway/contract/hooks.ts';
import { VideoEnginesConfig } from '../../video/contract/engines.ts';
import { McpCatalog } from '../../agents/contract/mcp-catalog.ts';
import { WebSearchConfig } from '../../agents/contract/web-search.ts';

/** `capstan.yaml`. Unknown fields are errors: a misspelt one would otherwise be ignored in silence. */
export const ConfigFile = z.strictObject({
  providers: ProvidersConfig.default({}),
  models: ModelsConfig.default({}),
  /** looks at images for sessions whose own model cannot: a name or `<provider>/<id>` */
  visionModel: z.string().min(1).max(500).optional(),
  webSearch: WebSearchConfig.optional(),
  mcpCatalog: McpCatalog.default([]),
  video: z
    .strictObject({
      engines: VideoEnginesConfig.default({}),
      creditsPerSecond: z.record(z.string(), z.number().min(0)).default({}),
      initialCredits: z.number().min(0).default(1000),
      freeTierPaused: z.boolean().default(false),
      retentionDays: z.number().positive().default(30),
    })
    .optional(),
  /** who changed what */
  audit: z
    .strictObject({
      /** each record is a line of the log too, for a system that collects them */
      print: z.boolean().default(false),
      retentionDays: z.number().positive().max(36_500).default(400),
    })
    .prefault({}),
  /** people: without it, they sign in with API keys */
  auth: z.strictObject({ oidc: OidcConfig.optional() }).optional(),
  login: z
    .strictObject({
      methods: z.array(LoginMethod).optional(),
      /** looks at pages on which no login is found, or several: a name or `<provider>/<id>` */
      fallbackModel: z.string().min(1).max(500).optional(),
      /** receives emails to mailboxes */
      smtp: SmtpConfig.optional(),
    })
    .optional(),
  /** of the sandboxes on this machine; pods have settings of their own */
  sandbox: z
    .strictObject({
      maxLive: z.int().min(1).max(10_000).optional(),
      memoryMiB: z.int().min(128).max(1_048_576).optional(),
      processes: z.int().min(64).max(32_768).optional(),
      tmpMiB: z.int().min(16).max(1_048_576).optional(),
    })
    .optional(),
  turns: z
    .strictObject({
      /** how long a turn repeats a failing model call */
      retryForSeconds: z.number().min(0).max(86_400).default(600),
      /** silence after which a call of a model provider has failed */
      silenceSeconds: z.number().positive().max(86_400).default(120),
    })
    .prefault({}),
  automations: z
    .strictObject({
      /** hours after which an unanswered approval of a run counts as denied */
      approvalHours: z.number().positive().max(8760).default(24),
    })
    .prefault({}),
  /** days after which old data is deleted */
  retention: z
    .strictObject({
      archivedSessionDays: z.number().positive().max(36_500).default(365),
      /** sessions without activity for so long are deleted; absent: they stay */
      sessionDays: z.number().positive().max(36_500).optional(),
      /** subjects of whom nothing was seen for so long are deleted with their files; absent: they stay */
      subjectDays: z.number().positive().max(36_500).optional(),
      usageDays: z.number().positive().max(36_500).default(400),
    })
    .prefault({}),
  gateway: z
    .strictObject({
      /** inspect, replace and refuse requests and responses, in this order */
      hooks: z
        .array(HookConfig)
        .max(20)
        .refine((hooks) => new Set(hooks.map(({ name }) => name)).size === hooks.length, 'names must differ')
        .default([]),
    })
    .prefault({}),
  /** tokens of each key and day at the gateway; absent: unlimited */
  limits: z.strictObject({ tokensPerDay: z.int().min(1).optional() }).optional(),
});
export type ConfigFile = z.infer<typeof ConfigFile>;
