import { ID, LATER, TIME, anyListExample } from '../../../platform/contract/examples/example.ts';
import type { Example } from '../../../platform/contract/examples/example.ts';

const vault = {
  id: ID.vault,
  type: 'vault',
  displayName: 'Care team',
  metadata: {},
  archivedAt: null,
  createdAt: TIME,
  updatedAt: TIME,
};
const mcpServerUrl = 'https://mcp.example.com/issues';
const refresh = {
  tokenEndpoint: 'https://auth.example.com/token',
  clientId: 'capstan',
  tokenEndpointAuth: { type: 'client_secret_basic' },
};
const credential = {
  id: ID.credential,
  type: 'vault_credential',
  vaultId: ID.vault,
  displayName: 'Issues',
  metadata: null,
  auth: { type: 'mcp_oauth', mcpServerUrl, expiresAt: LATER, refresh },
  archivedAt: null,
  createdAt: TIME,
  updatedAt: TIME,
};
const agentVaults = {
  object: 'agent.vaults',
  agentId: ID.agent,
  updatedAt: LATER,
  data: [vault],
  connections: [
    { mcpServerName: 'issues', mcpServerUrl, status: 'connected', vaultId: ID.vault, credentialId: ID.credential },
  ],
};

export const vaultExamples: Record<string, Example> = {
  createVault: { body: { displayName: vault.displayName }, answers: { 201: vault } },
  listVaults: { answers: { 200: anyListExample(vault) } },
  getVault: { answers: { 200: vault } },
  archiveVault: { answers: { 200: { ...vault, archivedAt: LATER, updatedAt: LATER } } },
  deleteVault: { answers: { 200: { object: 'vault.deleted', id: ID.vault, deleted: true } } },
  createCredential: {
    body: {
      displayName: 'Issues',
      auth: {
        type: 'mcp_oauth',
        mcpServerUrl,
        accessToken: 'access-token',
        expiresAt: LATER,
        refresh: {
          ...refresh,
          refreshToken: 'refresh-token',
          tokenEndpointAuth: { type: 'client_secret_basic', clientSecret: 'client-secret' },
        },
      },
    },
    answers: { 201: credential },
  },
  listCredentials: { answers: { 200: anyListExample(credential) } },
  getCredential: { answers: { 200: credential } },
  patchCredential: {
    body: { auth: { type: 'mcp_oauth', accessToken: 'next-access-token', expiresAt: LATER } },
    answers: { 200: { ...credential, updatedAt: LATER } },
  },
  archiveCredential: { answers: { 200: { ...credential, archivedAt: LATER, updatedAt: LATER } } },
  deleteCredential: { answers: { 200: { object: 'vault_credential.deleted', id: ID.credential, deleted: true } } },
  getAgentVaults: { answers: { 200: agentVaults } },
  setAgentVaults: { body: { vaultIds: [ID.vault], expectedUpdatedAt: TIME }, answers: { 200: agentVaults } },
};
