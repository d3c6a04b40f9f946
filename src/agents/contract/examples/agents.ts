import { ID, LATER, SUBJECT, TIME, anyListExample } from '../../../platform/contract/examples/example.ts';
import type { Example } from '../../../platform/contract/examples/example.ts';

const tools = [
  {
    type: 'agent_toolset',
    defaultConfig: { enabled: true, permissionPolicy: { type: 'always_ask' } },
    configs: [{ name: 'file', permissionPolicy: { type: 'always_allow' } }],
  },
  { type: 'mcp_toolset', mcpServerName: 'issues', defaultConfig: { permissionPolicy: { type: 'always_ask' } } },
];
const mcpServers = [{ type: 'url', name: 'issues', url: 'https://mcp.example.com/issues' }];
const definition = {
  name: 'support',
  modelName: 'openai/gpt-5',
  systemPrompt: 'You answer questions about our product.',
  skills: [{ name: 'refunds', content: '# Refunds\n\nAsk for the order number first.' }],
  tools,
  roles: [],
  mcpServers,
  environment: { sandboxClass: 'gpu' },
  reasoning: { effort: 'medium' },
  rateLimits: { conversationsPerMinute: 5, messagesPerMinute: 100 },
  metadata: { team: 'care' },
};

const version = {
  id: ID.version,
  version: 1,
  modelName: definition.modelName,
  systemPrompt: definition.systemPrompt,
  skills: ['refunds'],
  roles: [],
  mcpServers,
  environment: definition.environment,
  reasoning: definition.reasoning,
  metadata: definition.metadata,
  createdAt: LATER,
};

export const AGENT = {
  object: 'agent',
  id: ID.agent,
  name: definition.name,
  status: 'active',
  metadata: definition.metadata,
  rateLimits: definition.rateLimits,
  productionVersion: 0,
  version,
  tools,
  createdAt: TIME,
  updatedAt: LATER,
};

const pointer = { label: 'production', version: 1, agentVersionId: ID.version };
const agentTag = {
  object: 'agent.tag',
  name: 'next',
  version: 1,
  agentVersionId: ID.version,
  createdAt: LATER,
  updatedAt: LATER,
};
const approval = { object: 'approval', tool: 'terminal', createdAt: LATER };

export const agentExamples: Record<string, Example> = {
  listAgents: { query: { status: 'active', limit: '50', offset: '0' }, answers: { 200: anyListExample(AGENT) } },
  createAgent: {
    body: definition,
    answers: { 201: { ...AGENT, version: { ...version, version: 0, createdAt: TIME }, updatedAt: TIME } },
  },
  getAgent: { answers: { 200: AGENT } },
  patchAgent: { body: { systemPrompt: definition.systemPrompt, expectedVersion: 0 }, answers: { 200: AGENT } },
  replaceAgent: { body: { ...definition, expectedVersion: 0 }, answers: { 200: AGENT } },
  deleteAgent: { answers: { 200: { object: 'agent.deleted', id: ID.agent, deleted: true } } },
  archiveAgent: { answers: { 200: { ...AGENT, status: 'archived' } } },
  getProduction: { answers: { 200: pointer } },
  setProduction: { body: { version: 1 }, answers: { 200: pointer } },
  listTags: { answers: { 200: anyListExample(agentTag) } },
  setTag: { body: { version: 1 }, answers: { 200: agentTag } },
  deleteTag: { answers: { 200: { object: 'agent.tag.deleted', name: 'next', deleted: true } } },
  setRateLimits: {
    body: { messagesPerMinute: 200 },
    answers: { 200: { ...AGENT, rateLimits: { conversationsPerMinute: 5, messagesPerMinute: 200 } } },
  },
  listVersions: { answers: { 200: anyListExample(version, { ...version, version: 0, createdAt: TIME }) } },
  getVersion: { answers: { 200: { ...version, object: 'agent.version', tools } } },
  listApprovals: { answers: { 200: anyListExample(approval) } },
  deleteApprovals: { answers: { 200: { object: 'approval.deleted', tool: null, deleted: true } } },
  deleteApproval: { answers: { 200: { object: 'approval.deleted', tool: 'terminal', deleted: true } } },
};

export const mcpExamples: Record<string, Example> = {
  testMcpServer: {
    answers: {
      200: {
        object: 'mcp.test',
        serverName: 'issues',
        status: 'connected',
        ok: true,
        latencyMs: 84,
        protocolVersion: '2025-06-18',
        tools: [{ name: 'create_issue', description: 'Open an issue' }],
        error: null,
      },
    },
  },
  installMcpServer: {
    body: {
      expectedAgentVersion: 0,
      idempotencyKey: 'install-issues-1',
      connector: { type: 'custom', name: 'issues', url: 'https://mcp.example.com/issues' },
      authentication: { type: 'static_bearer', token: 'secret-token' },
      defaultPermission: 'always_ask',
    },
    answers: {
      201: {
        object: 'mcp.installation',
        agent: AGENT,
        version: 1,
        mcpServerName: 'issues',
        vaultId: ID.vault,
        credentialId: ID.credential,
        status: 'connected',
      },
    },
  },
};

const memory = {
  object: 'memory',
  target: 'user',
  content: 'Prefers short answers.\n§\nLives in Lisbon.',
  entries: ['Prefers short answers.', 'Lives in Lisbon.'],
  usedChars: 41,
  maxChars: 1375,
  checksumSha256: '6a1f7cbe4c8d6d0c53a3f1e2b4d5968778695a4b3c2d1e0f9e8d7c6b5a493827',
  updatedAt: LATER,
};
const notes = { ...memory, target: 'agent', content: 'We ship on Fridays.', entries: ['We ship on Fridays.'] };
const agentNotes = { ...notes, usedChars: 19, maxChars: 2200 };
const entries = memory.entries;

export const memoryExamples: Record<string, Example> = {
  getAgentMemory: { answers: { 200: agentNotes } },
  putAgentMemory: { body: { content: agentNotes.content }, answers: { 200: agentNotes } },
  deleteAgentMemory: { answers: { 200: { object: 'memory.deleted', target: 'agent', deleted: true } } },
  getMemory: { query: { target: 'user' }, answers: { 200: memory } },
  putMemory: { query: { target: 'user' }, body: { entries }, answers: { 200: memory } },
  deleteMemory: {
    query: { target: 'user' },
    answers: { 200: { object: 'memory.deleted', target: 'user', deleted: true } },
  },
};

export const subjectExamples: Readonly<Record<string, Example>> = {
  deleteSubject: {
    answers: {
      200: { object: 'subject.deleted', agentId: ID.agent, subjectId: SUBJECT, deleted: true, sessions: 2 },
    },
  },
  exportSubject: { answers: {} },
};
