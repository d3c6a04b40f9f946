import { z } from 'zod';
import { AwsAccess, GoogleAccess } from './credentials/config.ts';
import { PRESET_NAMES, applyPreset } from './presets.ts';

const amounts = {
  input: z.number().min(0),
  output: z.number().min(0),
  cacheRead: z.number().min(0).optional(),
  cacheWrite: z.number().min(0).optional(),
};

/** US dollars per million tokens. */
export const ModelPrice = z.strictObject({
  ...amounts,
  /** for all tokens of a call whose prompt has more than `from` tokens */
  longContext: z.strictObject({ from: z.int().min(1), ...amounts }).optional(),
});
export type ModelPrice = z.infer<typeof ModelPrice>;

export const ProviderModel = z.strictObject({
  id: z.string().min(1).max(400),
  /** maximum tokens of a prompt and its reply */
  contextWindow: z.int().min(1).optional(),
  vision: z.boolean().optional(),
  /** whether the model accepts a reasoning effort; absent: decided by its name */
  reasoning: z.boolean().optional(),
  /** tokens */
  maxOutputTokens: z.int().min(1).optional(),
  price: ModelPrice.optional(),
});
export type ProviderModel = z.infer<typeof ProviderModel>;

/** A wire format that clients and upstreams speak. */
export const WireFormat = z.enum(['chat-completions', 'responses', 'messages']);
export type WireFormat = z.infer<typeof WireFormat>;

/** The wire format that an upstream speaks: a client's, Google's `generateContent` or AWS's Converse. */
export const UpstreamFormat = z.enum([...WireFormat.options, 'generate-content', 'converse']);
export type UpstreamFormat = z.infer<typeof UpstreamFormat>;

const HeaderName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be a header name');
const Headers = z.record(HeaderName, z.string());
const ExtraBody = z.record(z.string().min(1).max(100), z.unknown());

const ProviderFields = z
  .strictObject({
    /** sets the format, the base URL and the header of the key, unless they are given */
    preset: z.enum(PRESET_NAMES).optional(),
    format: UpstreamFormat,
    /** with the version segment, for every format: `https://host/v1` */
    baseUrl: z.url({ protocol: /^https?$/ }),
    /** timeout for the first byte and between bytes */
    timeoutSeconds: z.number().positive().max(86_400).default(600),
    apiKey: z.string().min(1).optional(),
    /** name of the environment variable that holds the key; resolved to `apiKey` when the configuration is read */
    apiKeyEnv: z.string().min(1).optional(),
    /** names of the variables of several keys, used in rotation; a rejected key is paused */
    apiKeyEnvs: z.array(z.string().min(1)).min(1).max(50).optional(),
    /** the values of `apiKeyEnvs` */
    apiKeys: z.array(z.string().min(1)).min(1).max(50).optional(),
    /** signs the calls, unless there is an API key */
    aws: AwsAccess.optional(),
    /** obtains tokens for the calls, unless there is an API key */
    google: GoogleAccess.optional(),
    /** absent: any model id is accepted */
    models: z.array(ProviderModel).optional(),
    /**
     * whether the gateway forwards requests and replies of this format unchanged; default: only for the APIs of OpenAI and
     * Anthropic themselves. Forwarded replies are not repaired when the upstream violates the format.
     */
    passThrough: z.boolean().optional(),
    /** header of the key; default: the format's own (`authorization: Bearer` or `x-api-key`) */
    apiKeyHeader: HeaderName.optional(),
    /** sent with every call; override the default headers */
    headers: Headers.optional(),
    /** the same as `headers` */
    extraHeaders: Headers.optional(),
    /** fields set in the body of every call; replace the caller's */
    extraBody: ExtraBody.optional(),
  })
  .refine((provider) => provider.apiKey === undefined || provider.apiKeyEnv === undefined, {
    path: ['apiKeyEnv'],
    message: 'must not be set together with apiKey',
  })
  .refine(
    ({ apiKeyEnvs, apiKey, apiKeyEnv }) =>
      apiKeyEnvs === undefined || (apiKey === undefined && apiKeyEnv === undefined),
    { path: ['apiKeyEnvs'], message: 'must not be set together with apiKey or apiKeyEnv' },
  );
export const ProviderConfig = z.preprocess(applyPreset, ProviderFields);
export type ProviderConfig = z.infer<typeof ProviderFields>;

export const ProviderName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 letters, digits, ".", "_" or "-"')
  .refine((name) => name !== 'script', 'is the name of the built-in provider');

export const ProvidersConfig = z.record(ProviderName, ProviderConfig);
export type ProvidersConfig = z.infer<typeof ProvidersConfig>;

const ModelRef = z.string().regex(/^[^/]+\/.+$/, 'must be <provider>/<id>');

/** One model of a list. */
const RouteEntry = z.union([
  ModelRef,
  z.strictObject({
    model: ModelRef,
    /** share of the calls with `routing: weighted`, relative to the others */
    weight: z.number().positive().max(1_000_000).optional(),
    /** timeout for the first byte and between bytes; absent: the provider's */
    timeoutSeconds: z.number().positive().max(86_400).optional(),
    /** further tries of this model; absent: the gateway's */
    retries: z.int().min(0).max(10).optional(),
    extraBody: ExtraBody.optional(),
    extraHeaders: Headers.optional(),
  }),
]);
export type RouteEntry = z.infer<typeof RouteEntry>;
const RouteEntries = z.array(RouteEntry).min(1).max(100);

/** The order in which the models of a list are tried. */
export const Routing = z.enum(['order', 'weighted', 'latency']);
export type Routing = z.infer<typeof Routing>;

const RouteOptions = z.strictObject({
  models: RouteEntries,
  routing: Routing.default('order'),
  extraBody: ExtraBody.optional(),
  extraHeaders: Headers.optional(),
  /** further reasons to try the next model */
  fallbackOn: z.array(z.enum(['content_policy'])).default([]),
});

/** Names in addition to `<provider>/<id>`: each stands for one model or a list of models. */
export const ModelsConfig = z.record(z.string().min(1).max(500), z.union([ModelRef, RouteEntries, RouteOptions]));
export type ModelsConfig = z.infer<typeof ModelsConfig>;
