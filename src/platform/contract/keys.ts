import { z } from 'zod';
import { Id, Timestamp, deletedBody } from './common.ts';

/**
 * `agents:approve` reads what waits for people and answers it. `agents:deploy` moves production, deletes agents and keeps
 * secrets. `services:read` reads what the gateway, the video service and the website login list. `owner` makes
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
/** The very first key's: with what they imply, all of them. */
export const BOOTSTRAP_SCOPES: Scope[] = [...DEFAULT_SCOPES, 'admin'];
export const DEFAULT_REQUESTS_PER_MINUTE = 1000;

export const OrganizationName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 letters, digits, ".", "_" or "-"');

export const ApiKeyCreate = z
  .object({
    name: z.string().min(1).max(200),
    organization: OrganizationName.optional(),
    scopes: z.array(Scope).min(1).max(SCOPES.length).optional(),
    requestsPerMinute: z.int().min(1).max(1_000_000).optional(),
  })
  .meta({ id: 'ApiKeyCreate' });
export type ApiKeyCreate = z.infer<typeof ApiKeyCreate>;

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
    createdAt: Timestamp,
    revokedAt: Timestamp.nullable(),
  })
  .meta({ id: 'ApiKey' });
export type ApiKey = z.infer<typeof ApiKey>;

/** `key` is shown this once only. */
export const ApiKeyCreated = ApiKey.extend({ key: z.string() }).meta({ id: 'ApiKeyCreated' });
export type ApiKeyCreated = z.infer<typeof ApiKeyCreated>;

export const ApiKeyDeleted = deletedBody('api_key.deleted');
