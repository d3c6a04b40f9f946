// Generated from the contract by "npm run generate". Changes are lost.
export type * from './common.ts';
export type * from './agents.ts';
export type * from './sessions.ts';
export type * from './events.ts';
export type * from './pending-actions.ts';
export type * from './automations.ts';
export type * from './memory.ts';
export type * from './files.ts';
export type * from './vaults.ts';
export type * from './mcp-servers.ts';
export type * from './api-keys.ts';
export type * from './sign-in.ts';
export type * from './generations.ts';
export type * from './references.ts';
export type * from './templates-and-assets.ts';
export type * from './credits.ts';
export type * from './webhooks.ts';
