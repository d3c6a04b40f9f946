import { SCOPES } from '../../src/platform/contract/keys.ts';
import { ROLE_SCOPES } from '../../src/platform/contract/roles.ts';

/** `clients/typescript/generated/roles.ts`: the scopes of keys and of roles as values, for forms. */
export function buildRolesFile(head: string): string {
  const print = (scopes: readonly string[]) => `[${scopes.map((scope) => `'${scope}'`).join(', ')}]`;
  const roles = Object.entries(ROLE_SCOPES).map(([role, scopes]) => `  ${role}: ${print(scopes)},\n`);
  return `${head}
/** All scopes of a key. */
export const SCOPES: readonly string[] = ${print(SCOPES)};

/** What people of each role may do: the same scopes that keys have. */
export const ROLE_SCOPES: Readonly<Record<string, readonly string[]>> = {
${roles.join('')}};
`;
}
