// Generated from the contract by "npm run generate". Changes are lost.

/** All scopes of a key. */
export const SCOPES: readonly string[] = ['agents:read', 'agents:approve', 'agents:write', 'agents:deploy', 'inference', 'templates:read', 'login', 'services:read', 'admin', 'owner'];

/** What people of each role may do: the same scopes that keys have. */
export const ROLE_SCOPES: Readonly<Record<string, readonly string[]>> = {
  viewer: ['agents:read', 'services:read'],
  approver: ['agents:read', 'services:read', 'agents:approve'],
  builder: ['agents:read', 'services:read', 'agents:approve', 'agents:write', 'inference', 'templates:read'],
  operator: ['agents:read', 'services:read', 'agents:approve', 'agents:write', 'inference', 'templates:read', 'agents:deploy', 'login'],
  admin: ['agents:read', 'services:read', 'agents:approve', 'agents:write', 'inference', 'templates:read', 'agents:deploy', 'login', 'admin'],
  owner: ['agents:read', 'services:read', 'agents:approve', 'agents:write', 'inference', 'templates:read', 'agents:deploy', 'login', 'admin', 'owner'],
};
