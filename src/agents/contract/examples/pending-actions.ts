import { ID, LATER, SUBJECT, TIME, cursorListExample } from '../../../platform/contract/examples/example.ts';
import type { Example } from '../../../platform/contract/examples/example.ts';

const action = {
  object: 'pending_action',
  id: ID.reply,
  type: 'approval',
  state: 'pending',
  sessionId: ID.session,
  sessionTitle: 'Late delivery',
  agentId: ID.agent,
  agentName: 'Ada',
  agentVersion: 1,
  subjectId: SUBJECT,
  automationId: null,
  sequence: 5,
  toolUseId: ID.prompt,
  toolName: 'terminal',
  toolset: 'terminal',
  mcpServerName: null,
  input: { command: 'rm -r build' },
  inputTruncated: false,
  scopes: ['once', 'session', 'always'],
  approvers: ['role:approver', 'group:sre'],
  separationOfDuties: false,
  question: null,
  choices: null,
  createdAt: TIME,
  expiresAt: null,
  answeredAt: null,
  answeredBy: null,
  answer: null,
};

const frame = {
  id: ID.idle,
  type: 'session.status_idle',
  sessionId: ID.session,
  agentId: ID.agent,
  subjectId: SUBJECT,
  sequence: 6,
  createdAt: LATER,
  session: {
    status: 'waiting_on_human',
    title: 'Late delivery',
    openActions: 1,
    costUsd: 0.0011,
    lastActivityAt: LATER,
  },
};

export const pendingActionExamples: Record<string, Example> = {
  listPendingActions: { query: { type: 'approval' }, answers: { 200: cursorListExample(action) } },
  getPendingAction: {
    answers: {
      200: {
        ...action,
        state: 'answered',
        answeredAt: LATER,
        answeredBy: { type: 'key', id: ID.key, name: 'support desk' },
        answer: { result: 'allow', scope: 'once' },
      },
    },
  },
  streamOrganizationEvents: {
    query: { types: 'session.status_idle' },
    answers: { 200: `id: 01kg9.7\nevent: session.status_idle\ndata: ${JSON.stringify(frame)}\n\n` },
  },
};
