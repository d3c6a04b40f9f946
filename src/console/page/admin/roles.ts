// Tests: test/console/manage.test.ts
import { ROLE_SCOPES } from '../../../../clients/typescript/generated/roles.ts';

/** The role with exactly these scopes. */
export function findRole(scopes: readonly string[]): string | undefined {
  const given = new Set(scopes);
  return Object.entries(ROLE_SCOPES).find(
    ([, role]) => role.length === given.size && role.every((scope) => given.has(scope)),
  )?.[0];
}
