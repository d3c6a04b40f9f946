import { z } from 'zod';
import { Agent, ServerUrl } from './agents.ts';
import { Id } from '../../platform/contract/common.ts';
import { ConnectionStatus, Token } from './vaults.ts';

const Connector = z
  .discriminatedUnion('type', [
    /** an entry of `mcpCatalog` in the configuration */
    z.object({ type: z.literal('catalog'), id: z.string().min(1).max(200) }).meta({ id: 'CatalogConnector' }),
    z
      .object({ type: z.literal('custom'), name: z.string().min(1).max(200), url: ServerUrl })
      .meta({ id: 'CustomConnector' }),
  ])
  .meta({ id: 'McpConnector' });

const Authentication = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('none') }).meta({ id: 'NoAuthentication' }),
    /** a vault that is attached to the agent */
    z.object({ type: z.literal('existing_vault'), vaultId: Id }).meta({ id: 'ExistingVault' }),
    /** stored in a new vault, which is attached */
    z.object({ type: z.literal('static_bearer'), token: Token }).meta({ id: 'NewStaticBearer' }),
  ])
  .meta({ id: 'McpAuthentication' });

export const McpInstall = z
  .object({
    expectedAgentVersion: z.int().min(0),
    idempotencyKey: z.string().min(1).max(255),
    connector: Connector,
    authentication: Authentication,
    defaultPermission: z.enum(['always_ask', 'always_allow', 'always_deny']).default('always_ask'),
  })
  .meta({ id: 'McpInstall' });
export type McpInstall = z.infer<typeof McpInstall>;

export const McpInstallation = z
  .object({
    object: z.literal('mcp.installation'),
    agent: Agent,
    version: z.int(),
    mcpServerName: z.string(),
    vaultId: Id.nullable(),
    credentialId: Id.nullable(),
    status: ConnectionStatus,
  })
  .meta({ id: 'McpInstallation' });
export type McpInstallation = z.infer<typeof McpInstallation>;

export const McpTest = z
  .object({
    object: z.literal('mcp.test'),
    ok: z.boolean(),
    serverName: z.string(),
    status: ConnectionStatus.describe('of the credential: `connected` means that there is one'),
    latencyMs: z.int(),
    protocolVersion: z.string().nullable(),
    tools: z.array(z.object({ name: z.string(), description: z.string() })),
    /** why not, when not `ok` */
    error: z.string().nullable(),
  })
  .meta({ id: 'McpTest' });
export type McpTest = z.infer<typeof McpTest>;
