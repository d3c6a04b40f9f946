// Generated from the contract by "npm run generate". Changes are lost.
import type { AgentsOperations } from './agents.ts';
import type { SessionsOperations } from './sessions.ts';
import type { EventsOperations } from './events.ts';
import type { AutomationsOperations } from './automations.ts';
import type { MemoryOperations } from './memory.ts';
import type { FilesOperations } from './files.ts';
import type { VaultsOperations } from './vaults.ts';
import type { MCPserversOperations } from './mcp-servers.ts';
import type { APIkeysOperations } from './api-keys.ts';

/** Every operation of the service as a function. */
export type Operations = AgentsOperations &
  SessionsOperations &
  EventsOperations &
  AutomationsOperations &
  MemoryOperations &
  FilesOperations &
  VaultsOperations &
  MCPserversOperations &
  APIkeysOperations;
