import { z } from 'zod';
import { ProviderModel, ProviderName, UpstreamFormat } from '../../inference/config.ts';
import { AwsRegion, GoogleLocation, GoogleProject } from '../../inference/credentials/config.ts';
import { PRESET_NAMES } from '../../inference/presets.ts';
import { CursorPage, HttpUrl, Id, Timestamp, cursorListOf, deletedBody } from '../../platform/contract/common.ts';
import { defineRoute } from '../../platform/contract/route.ts';

const MAX_MODELS = 200;

const Address = HttpUrl.describe('with the version segment: `https://host/v1`');
const Key = z.string().regex(/^[\x21-\x7e]{1,4000}$/, 'must be 1 to 4000 visible ASCII characters');
const RESERVED = /^(?:host|connection|content-length|content-type|transfer-encoding|upgrade|te|trailer|expect)$/i;
const KeyHeader = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, 'must be a header name')
  .refine((name) => !RESERVED.test(name), 'must not be a header of the connection or the body');
const Models = z
  .array(z.union([z.string().min(1).max(400), ProviderModel]))
  .min(1)
  .max(MAX_MODELS)
  .describe('ids, or objects with their properties; absent: any model id is accepted');

const AwsKeys = {
  accessKeyId: z.string().regex(/^\w{16,128}$/, 'must be an access key id of AWS'),
  secretAccessKey: z.string().regex(/^[\x21-\x7e]{1,200}$/, 'must be a secret access key of AWS'),
  sessionToken: z
    .string()
    .regex(/^[\x21-\x7e]{1,8000}$/, 'must be a session token of AWS')
    .optional(),
};
const ServiceAccountKey = z
  .union([z.string().min(1).max(20_000), z.record(z.string(), z.unknown())])
  .describe('the JSON key of a service account, as an object or as text; sealed');

const Aws = z
  .strictObject({
    region: AwsRegion,
    ...AwsKeys,
    accessKeyId: AwsKeys.accessKeyId.optional(),
    secretAccessKey: AwsKeys.secretAccessKey.optional().describe('sealed, like the other keys'),
  })
  .describe('Bedrock: the region, and the keys that sign the calls unless there is an `apiKey`');

const Google = z
  .strictObject({
    project: GoogleProject,
    location: GoogleLocation,
    credentials: ServiceAccountKey.optional(),
  })
  .describe('Vertex AI: the project, and the service account that calls it');

export const ProviderCreate = z
  .object({
    name: ProviderName.describe('models of the provider are `<name>/<id>`'),
    preset: z.enum(PRESET_NAMES).optional().describe('sets the format, the address and the header of the key'),
    format: UpstreamFormat.optional(),
    baseUrl: Address.optional(),
    apiKey: Key.optional().describe('sealed; no response shows it'),
    apiKeyHeader: KeyHeader.optional(),
    aws: Aws.optional(),
    google: Google.optional(),
    models: Models.optional(),
    timeoutSeconds: z.number().positive().max(3600).optional(),
    passThrough: z.boolean().optional(),
    probe: z.boolean().default(true).describe('false: saved without a call of the provider'),
  })
  .meta({ id: 'ModelProviderCreate' });
export type ProviderCreate = z.infer<typeof ProviderCreate>;

export const ProviderPatch = z
  .object({
    apiKey: Key.optional(),
    aws: z.strictObject(AwsKeys).optional().describe('replaces all keys of AWS'),
    google: z.strictObject({ credentials: ServiceAccountKey }).optional(),
    models: Models.nullable().optional(),
    probe: z.boolean().default(true),
  })
  .refine(
    ({ probe: _probe, ...changed }) => Object.values(changed).some((value) => value !== undefined),
    'must change at least one field',
  )
  .meta({ id: 'ModelProviderPatch' });
export type ProviderPatch = z.infer<typeof ProviderPatch>;

export const ProviderProbe = z
  .object({
    status: z
      .enum(['ok', 'unverified', 'rejected', 'unreachable'])
      .describe('`unverified`: it answers, but not to this call, so the credentials were not checked'),
    message: z.string().nullable(),
    models: z.array(z.string()).describe('ids that the provider lists, at most 100'),
    checkedAt: Timestamp,
  })
  .meta({ id: 'ModelProviderProbe' });
export type ProviderProbe = z.infer<typeof ProviderProbe>;

export const Provider = z
  .object({
    object: z.literal('provider'),
    id: Id,
    name: z.string(),
    format: UpstreamFormat,
    baseUrl: z.string(),
    hasKey: z.boolean().describe('whether there is a key or another credential'),
    apiKeyHeader: z.string().nullable(),
    aws: z.object({ region: z.string() }).nullable(),
    google: z.object({ project: z.string(), location: z.string() }).nullable(),
    models: z.array(ProviderModel).nullable().describe('null: any model id is accepted'),
    timeoutSeconds: z.number(),
    passThrough: z.boolean().nullable().describe('null: only for the APIs of OpenAI and Anthropic themselves'),
    probe: ProviderProbe.nullable().describe('the last call that checked address and credentials'),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'ModelProvider' });
export type Provider = z.infer<typeof Provider>;

const params = z.object({ providerId: Id });
const change = { tag: 'Providers', scope: 'admin' } as const;
const read = { tag: 'Providers', scope: 'services:read', orScope: 'admin' } as const;
const ONE = '/v1/providers/{providerId}';

export const providerRoutes = {
  createProvider: defineRoute({
    ...change,
    id: 'createProvider',
    method: 'POST',
    path: '/v1/providers',
    summary: "Add a provider of models with the organization's own credentials",
    body: ProviderCreate,
    responses: { 201: Provider },
    errors: ['conflict'],
  }),
  listProviders: defineRoute({
    ...read,
    id: 'listProviders',
    method: 'GET',
    path: '/v1/providers',
    summary: "The organization's own providers, newest first",
    query: CursorPage,
    responses: { 200: cursorListOf(Provider) },
    errors: [],
  }),
  getProvider: defineRoute({
    ...read,
    id: 'getProvider',
    method: 'GET',
    path: ONE,
    summary: 'One provider',
    params,
    responses: { 200: Provider },
    errors: ['not_found'],
  }),
  updateProvider: defineRoute({
    ...change,
    id: 'updateProvider',
    method: 'PATCH',
    path: ONE,
    summary: 'Change the credentials or the models of a provider',
    params,
    body: ProviderPatch,
    responses: { 200: Provider },
    errors: ['not_found'],
  }),
  testProvider: defineRoute({
    ...change,
    id: 'testProvider',
    method: 'POST',
    path: `${ONE}/test`,
    summary: 'Check address and credentials of a provider now',
    params,
    responses: { 200: Provider },
    errors: ['not_found'],
  }),
  deleteProvider: defineRoute({
    ...change,
    id: 'deleteProvider',
    method: 'DELETE',
    path: ONE,
    summary: 'Delete a provider with its key',
    params,
    responses: { 200: deletedBody('provider.deleted') },
    errors: ['not_found'],
  }),
};
