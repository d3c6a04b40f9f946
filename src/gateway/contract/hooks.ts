import { z } from 'zod';

const Timeout = z.number().min(0.05).max(30);

const HookFields = z.strictObject({
  /** shown in errors and in the log */
  name: z.string().regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, ".", "_" or "-"'),
  /** an HTTP endpoint; alternative: `module` */
  url: z.url({ protocol: /^https?$/ }).optional(),
  /** path of a module with the functions `onRequest` and `onResponse`, relative to the file; alternative: `url` */
  module: z.string().min(1).max(1000).optional(),
  /** variable with the secret that signs the callouts, in the form of Standard Webhooks (`whsec_…`); required for `url` */
  secretEnv: z.string().min(1).optional(),
  /** what `secretEnv` is resolved to */
  secret: z.string().startsWith('whsec_').min(30).optional(),
  /** what an HTTP endpoint is asked about; a module is asked what it has functions for */
  on: z
    .array(z.enum(['request', 'response']))
    .min(1)
    .default(['request']),
  timeoutSeconds: Timeout.default(5),
  /** whether a call goes on when the hook fails or is late */
  failOpen: z.boolean().default(false),
  /** streamed replies: `end` sends them on and asks before the last frames; `hold` sends nothing before the hook allows it */
  streams: z.enum(['end', 'hold']).default('end'),
});

/** A hook of the gateway that inspects requests, responses or both. */
export const HookConfig = HookFields.refine(({ url, module }) => (url === undefined) !== (module === undefined), {
  path: ['url'],
  message: 'either url or module must be set',
}).refine(({ url, secretEnv, secret }) => url === undefined || secretEnv !== undefined || secret !== undefined, {
  path: ['secretEnv'],
  message: 'is required for url',
});
export type HookConfig = z.infer<typeof HookFields>;

/** What a hook answers. An empty object allows. */
export const HookAnswer = z
  .object({
    action: z.enum(['allow', 'refuse', 'replace']).default('allow'),
    /** `refuse`: shown to the client */
    message: z.string().max(2000).optional(),
    /** `replace`: the whole request or response, in the client's format */
    body: z.record(z.string(), z.unknown()).optional(),
  })
  .refine(({ action, body }) => action !== 'replace' || body !== undefined, { path: ['body'], message: 'is required' });
export type HookAnswer = z.infer<typeof HookAnswer>;
