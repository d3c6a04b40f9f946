// Tests: test/console/manage.test.ts
/** All scopes of a key. */
export const SCOPES: readonly string[] = [
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
];

const VIEWER = ['agents:read', 'services:read'];
const APPROVER = [...VIEWER, 'agents:approve'];
const BUILDER = [...APPROVER, 'agents:write', 'inference', 'templates:read'];
const OPERATOR = [...BUILDER, 'agents:deploy', 'login'];
const ADMIN = [...OPERATOR, 'admin'];

/** The scopes of each role of people, as the server has them. */
export const ROLE_SCOPES: Readonly<Record<string, readonly string[]>> = {
  viewer: VIEWER,
  approver: APPROVER,
  builder: BUILDER,
  operator: OPERATOR,
  admin: ADMIN,
  owner: [...ADMIN, 'owner'],
};

/** The role with exactly these scopes. */
export function findRole(scopes: readonly string[]): string | undefined {
  const given = new Set(scopes);
  return Object.entries(ROLE_SCOPES).find(
    ([, role]) => role.length === given.size && role.every((scope) => given.has(scope)),
  )?.[0];
}
