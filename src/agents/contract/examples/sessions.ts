import {
  ID,
  LATER,
  SUBJECT,
  TIME,
  anyListExample,
  cursorListExample,
} from '../../../platform/contract/examples/example.ts';
import type { Example } from '../../../platform/contract/examples/example.ts';

const usage = {
  model: 'openai/gpt-5',
  input: 812,
  output: 64,
  cache_read: 512,
  cache_write: 0,
  reasoning: 0,
  total: 876,
  calls: 1,
  context_used: 876,
  context_max: 400_000,
  context_percent: 0.2,
  cost_usd: 0.0011,
  cost_status: 'estimated',
  last_turn_latency_ms: 1840,
  latency_ms: 1840,
};

const session = {
  object: 'session',
  id: ID.session,
  agentId: ID.agent,
  agentName: 'Ada',
  agentVersion: 1,
  agentVersionId: ID.version,
  subjectId: SUBJECT,
  role: null,
  title: 'Late delivery',
  status: 'idle',
  yoloMode: false,
  reasoning: null,
  preview: false,
  tag: null,
  metadata: { channel: 'web' },
  automationId: null,
  goal: null,
  pendingActions: [],
  openActions: 0,
  lastSequence: 4,
  lastStopReason: { type: 'end_turn' },
  turnStartedAt: null,
  queuedCount: 0,
  usage,
  createdAt: TIME,
  updatedAt: LATER,
  lastActivityAt: LATER,
  waiting: null,
  mcpServers: [],
  archivedAt: null,
};
const fresh = {
  ...session,
  title: null,
  usage: null,
  lastSequence: 0,
  lastStopReason: null,
  updatedAt: TIME,
  lastActivityAt: TIME,
};

const envelope = { sessionId: ID.session, turnId: ID.turn, createdAt: TIME, processedAt: null };
const message = { type: 'user.message', content: [{ type: 'text', text: 'Where is my order?' }] };
const prompt = {
  ...envelope,
  id: ID.prompt,
  type: 'user.message',
  sequence: 1,
  status: 'received',
  payload: message,
};
const reply = {
  ...envelope,
  id: ID.reply,
  type: 'agent.message',
  sequence: 3,
  status: 'complete',
  payload: {
    type: 'agent.message',
    id: ID.reply,
    delta: false,
    content: [{ type: 'text', text: 'What is the order number?' }],
  },
};
const history = [
  { ...prompt, status: 'processed', processedAt: LATER },
  {
    ...envelope,
    id: ID.running,
    type: 'session.status_running',
    sequence: 2,
    status: 'complete',
    payload: { type: 'session.status_running' },
  },
  reply,
  {
    ...envelope,
    id: ID.idle,
    type: 'session.status_idle',
    sequence: 4,
    status: 'complete',
    usage,
    payload: { type: 'session.status_idle', stop_reason: { type: 'end_turn' }, usage },
  },
];

export const sessionExamples: Record<string, Example> = {
  createSession: {
    body: { agentId: ID.agent, subjectId: SUBJECT, metadata: { channel: 'web' } },
    answers: { 201: fresh },
  },
  listSessions: {
    query: { agentId: ID.agent, subjectId: SUBJECT, status: 'idle' },
    answers: { 200: anyListExample(session) },
  },
  getSession: { answers: { 200: session } },
  listTurns: {
    query: { order: 'desc' },
    answers: {
      200: cursorListExample({
        object: 'turn',
        id: ID.turn,
        state: 'ended',
        firstSequence: 1,
        lastSequence: 4,
        startedAt: TIME,
        endedAt: LATER,
        stopReason: { type: 'end_turn' },
        usage,
        steps: [
          {
            index: 1,
            threadId: null,
            model: 'openai/gpt-5',
            startedAt: TIME,
            firstTokenAt: '2026-01-31T09:30:00.640Z',
            endedAt: '2026-01-31T09:30:01.840Z',
            usage: { model: 'openai/gpt-5', input: 812, output: 64, cache_read: 512, calls: 1, cost_usd: 0.0011 },
            toolUseIds: [],
            error: null,
            retries: 0,
          },
        ],
      }),
    },
  },
  getSessionTrace: {
    query: { limit: '1' },
    answers: {
      200: {
        object: 'session_trace',
        sessionId: ID.session,
        resourceSpans: [
          {
            resource: { attributes: [{ key: 'service.name', value: { stringValue: 'capstan' } }] },
            scopeSpans: [
              {
                scope: { name: 'capstan' },
                spans: [
                  {
                    traceId: '0af7651916cd43dd8448eb211c80319c',
                    spanId: 'b7ad6b7169203331',
                    name: 'invoke_agent Support',
                    kind: 1,
                    startTimeUnixNano: '1769851800000000000',
                    endTimeUnixNano: '1769851802000000000',
                    attributes: [{ key: 'gen_ai.operation.name', value: { stringValue: 'invoke_agent' } }],
                    status: { code: 0 },
                  },
                ],
              },
            ],
          },
        ],
        pagination: { limit: 1, hasMore: false, nextCursor: null },
      },
    },
  },
  updateSession: { body: { title: 'Late delivery' }, answers: { 200: session } },
  archiveSession: { answers: { 200: { ...session, status: 'archived', archivedAt: LATER } } },
  deleteSession: { answers: { 200: { object: 'session.deleted', id: ID.session, deleted: true } } },
  listSandboxes: {
    query: { agentId: ID.agent },
    answers: {
      200: cursorListExample({
        object: 'sandbox',
        sessionId: ID.session,
        sessionTitle: 'Late delivery',
        sessionStatus: 'running',
        agentId: ID.agent,
        agentName: 'support',
        subjectId: SUBJECT,
        phase: 'running',
        reason: null,
        node: 'node-1',
        pod: 'ses-01m81zzn88ecy9rs3wbezc8mch',
        startedAt: TIME,
        volume: { usedBytes: 1_048_576, sizeBytes: 536_870_912 },
      }),
    },
  },
  stopSandbox: { answers: { 200: { object: 'sandbox.stopped', sessionId: ID.session, stopped: true } } },
  warmSandbox: {
    body: { agentId: ID.agent, subjectId: SUBJECT },
    answers: {
      202: { object: 'sandbox.warm', status: 'warming', reason: null, agentId: ID.agent, subjectId: SUBJECT },
    },
  },
};

export const eventExamples: Record<string, Example> = {
  listEvents: {
    query: { after: '0', limit: '100' },
    answers: { 200: { object: 'list', data: history, pagination: { after: 0, hasMore: false, limit: 100 } } },
  },
  getEvent: { query: { attachments: 'omit' }, answers: { 200: reply } },
  getEventAttachment: { answers: {} },
  streamEvents: {
    query: { after: '2' },
    answers: { 200: `id: b3BhcXVl\nevent: agent.message\ndata: ${JSON.stringify(reply)}\n\n` },
  },
  sendEvents: {
    body: { events: [message], delivery: 'immediate' },
    answers: {
      200: { object: 'list', data: [prompt] },
      202: { object: 'list', data: [{ ...prompt, turnId: null, status: 'queued' }] },
    },
  },
};

const automation = {
  object: 'automation',
  id: ID.automation,
  agentId: ID.agent,
  subjectId: SUBJECT,
  name: 'Morning report',
  prompt: 'Sum up what happened since yesterday.',
  schedule: '30 7 * * 1-5',
  scheduleDisplay: 'At 07:30 AM, Monday through Friday',
  timezone: 'UTC',
  skills: [],
  repeat: null,
  enabled: true,
  state: 'scheduled',
  nextRunAt: '2026-02-02T07:30:00.000Z',
  lastRunAt: null,
  lastStatus: null,
  lastError: null,
  lastSessionId: null,
  runCount: 0,
  successCount: 0,
  failureCount: 0,
  skippedCount: 0,
  createdAt: TIME,
  updatedAt: TIME,
};

export const automationExamples: Record<string, Example> = {
  listOrganizationAutomations: { query: { agentId: ID.agent }, answers: { 200: cursorListExample(automation) } },
  listSubjects: {
    query: { q: 'user' },
    answers: {
      200: cursorListExample({
        object: 'subject',
        agentId: ID.agent,
        subjectId: SUBJECT,
        sessions: 12,
        lastActivityAt: LATER,
        costUsd: 0.31,
        volumeBytes: null,
      }),
    },
  },
  listAgentAutomations: { answers: { 200: anyListExample(automation) } },
  listAutomations: { answers: { 200: anyListExample(automation) } },
  createAutomation: {
    body: { name: automation.name, prompt: automation.prompt, schedule: automation.schedule },
    answers: { 201: automation },
  },
  getAutomation: { answers: { 200: automation } },
  patchAutomation: { body: { repeat: 10 }, answers: { 200: { ...automation, repeat: 10 } } },
  deleteAutomation: { answers: { 200: { object: 'automation.deleted', id: ID.automation, deleted: true } } },
  pauseAutomation: { answers: { 200: { ...automation, enabled: false, state: 'paused', nextRunAt: null } } },
  resumeAutomation: { answers: { 200: automation } },
  triggerAutomation: {
    answers: { 202: { object: 'automation.run', automationId: ID.automation, sessionId: ID.session } },
  },
  listAutomationSessions: {
    answers: { 200: anyListExample({ ...session, title: automation.name, automationId: ID.automation }) },
  },
};
