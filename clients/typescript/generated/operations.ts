// Generated from the contract by "npm run generate". Changes are lost.
import type { AgentsOperations } from './agents.ts';
import type { SessionsOperations } from './sessions.ts';
import type { EventsOperations } from './events.ts';
import type { PendingactionsOperations } from './pending-actions.ts';
import type { AutomationsOperations } from './automations.ts';
import type { MemoryOperations } from './memory.ts';
import type { FilesOperations } from './files.ts';
import type { SubjectsOperations } from './subjects.ts';
import type { VaultsOperations } from './vaults.ts';
import type { MCPserversOperations } from './mcp-servers.ts';
import type { APIkeysOperations } from './api-keys.ts';
import type { OrganizationsOperations } from './organizations.ts';
import type { OrganizationwebhooksOperations } from './organization-webhooks.ts';
import type { BudgetsOperations } from './budgets.ts';
import type { SigninOperations } from './sign-in.ts';
import type { AuditOperations } from './audit.ts';
import type { GenerationsOperations } from './generations.ts';
import type { ReferencesOperations } from './references.ts';
import type { TemplatesandassetsOperations } from './templates-and-assets.ts';
import type { CreditsOperations } from './credits.ts';
import type { WebhooksOperations } from './webhooks.ts';

/** Every operation of the service as a function. */
export type Operations = AgentsOperations &
  SessionsOperations &
  EventsOperations &
  PendingactionsOperations &
  AutomationsOperations &
  MemoryOperations &
  FilesOperations &
  SubjectsOperations &
  VaultsOperations &
  MCPserversOperations &
  APIkeysOperations &
  OrganizationsOperations &
  OrganizationwebhooksOperations &
  BudgetsOperations &
  SigninOperations &
  AuditOperations &
  GenerationsOperations &
  ReferencesOperations &
  TemplatesandassetsOperations &
  CreditsOperations &
  WebhooksOperations;
