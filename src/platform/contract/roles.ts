import { z } from 'zod';
import { SCOPES } from './keys.ts';
import type { Scope } from './keys.ts';

export const ROLES = ['viewer', 'approver', 'builder', 'operator', 'admin', 'owner'] as const;
export const Role = z.enum(ROLES);
export type Role = z.infer<typeof Role>;

const VIEWER: Scope[] = ['agents:read', 'services:read'];
const APPROVER: Scope[] = [...VIEWER, 'agents:approve'];
const BUILDER: Scope[] = [...APPROVER, 'agents:write', 'inference', 'templates:read'];
const OPERATOR: Scope[] = [...BUILDER, 'agents:deploy', 'login'];
const ADMIN: Scope[] = [...OPERATOR, 'admin'];

/** What people of each role may do: the same scopes that keys have. */
export const ROLE_SCOPES: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: VIEWER,
  approver: APPROVER,
  builder: BUILDER,
  operator: OPERATOR,
  admin: ADMIN,
  owner: [...ADMIN, 'owner'],
};

/**
 * What the scopes of a key bring with them. Keys are older than roles: one that writes agents also deploys them, and an
 * admin key is its organization's owner.
 */
const KEY_IMPLIES: Partial<Record<Scope, readonly Scope[]>> = {
  'agents:write': ['agents:approve', 'agents:deploy'],
  admin: ['owner'],
};

/** All that a key with these scopes may do, in the order of `SCOPES`. */
export function expandKeyScopes(scopes: readonly Scope[]): Scope[] {
  const all = new Set(scopes.flatMap((scope) => [scope, ...(KEY_IMPLIES[scope] ?? [])]));
  return SCOPES.filter((scope) => all.has(scope));
}
