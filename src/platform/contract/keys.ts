import { z } from 'zod';
import { FutureTime, Id, Metadata, Timestamp, deletedBody } from './common.ts';

/**
 * `agents:approve` reads what waits for people and answers it. `agents:deploy` moves production, deletes agents and
 * keeps secrets. `services:read` reads what the gateway, the video service and the website login list. `owner` makes
 * organizations and sets budgets.
 */
export const SCOPES = [
  'agents:read',
  'agents:approve',
  'agents:write',
  'agents:deploy',
  'inference',
  'templates:read',
  'login',
  'services:read',
  'admin',
  'owner',
] as const;
export const Scope = z.enum(SCOPES);
export type Scope = z.infer<typeof Scope>;

/** What a key made without scopes may do. */
export const DEFAULT_SCOPES: Scope[] = ['agents:read', 'agents:write', 'inference', 'templates:read', 'login'];
/** The scopes of the bootstrap key; together with the implied ones these are all scopes. */
export const BOOTSTRAP_SCOPES: Scope[] = [...DEFAULT_SCOPES, 'admin'];
export const DEFAULT_REQUESTS_PER_MINUTE = 1000;

export const OrganizationName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 letters, digits, ".", "_" or "-"');

/** A model's name, or a pattern in which `*` stands for any characters: `acme/*`. */
export const ModelPattern = z.string().min(1).max(500);

const limits = {
  scopes: z.array(Scope).min(1).max(SCOPES.length).optional(),
  requestsPerMinute: z.int().min(1).max(1_000_000).optional(),
  /** at the gateway; null: the server's own limit */
  tokensPerDay: z.int().min(1).max(1_000_000_000_000).nullable().optional(),
  /** null: never */
  expiresAt: FutureTime.nullable().optional(),
  /** the models of the gateway that the key may use; null: all */
  models: z.array(ModelPattern).min(1).max(200).nullable().optional(),
  metadata: Metadata.optional(),
};

export const ApiKeyCreate = z
  .object({ name: z.string().min(1).max(200), organization: OrganizationName.optional(), ...limits })
  .meta({ id: 'ApiKeyCreate' });
export type ApiKeyCreate = z.infer<typeof ApiKeyCreate>;

/** Omitted fields stay unchanged. */
export const ApiKeyPatch = z
  .object({ name: z.string().min(1).max(200).optional(), ...limits })
  .refine((patch) => Object.keys(patch).length > 0, 'must change something')
  .meta({ id: 'ApiKeyPatch' });
export type ApiKeyPatch = z.infer<typeof ApiKeyPatch>;

const DAY_SECONDS = 86_400;

/** Seconds that the secret before works on. */
export const ApiKeyRotate = z
  .object({
    gracePeriodSeconds: z
      .int()
      .min(0)
      .max(30 * DAY_SECONDS)
      .default(DAY_SECONDS),
  })
  .meta({ id: 'ApiKeyRotate' });

export const ApiKey = z
  .object({
    object: z.literal('api_key'),
    id: Id,
    name: z.string(),
    organization: z.string(),
    organizationId: Id,
    prefix: z.string(),
    scopes: z.array(Scope),
    requestsPerMinute: z.int(),
    tokensPerDay: z.int().nullable(),
    models: z.array(ModelPattern).nullable(),
    metadata: Metadata,
    createdAt: Timestamp,
    expiresAt: Timestamp.nullable(),
    lastUsedAt: Timestamp.nullable(),
    previousExpiresAt: Timestamp.nullable().describe('until then the secret before the last rotation works too'),
    revokedAt: Timestamp.nullable(),
  })
  .meta({ id: 'ApiKey' });
export type ApiKey = z.infer<typeof ApiKey>;

/** `key` is shown this once only. */
export const ApiKeyCreated = ApiKey.extend({ key: z.string() }).meta({ id: 'ApiKeyCreated' });
export type ApiKeyCreated = z.infer<typeof ApiKeyCreated>;

export const ApiKeyDeleted = deletedBody('api_key.deleted');

export const Organization = z
  .object({ object: z.literal('organization'), id: Id, name: z.string(), createdAt: Timestamp })
  .meta({ id: 'Organization' });
export type Organization = z.infer<typeof Organization>;
