// Tests: test/agents/contract/examples.test.ts
/** What one operation is sent and answers, as the document shows it. Each value fits the operation's own schema. */
export type Example = {
  body?: Record<string, unknown>;
  /** by name; those of the path come from `PARAMETERS` */
  query?: Record<string, string>;
  /** by status; a text for a stream */
  answers: Readonly<Record<number, unknown>>;
};

export const TIME = '2026-01-31T09:30:00.000Z';
export const LATER = '2026-01-31T09:30:04.250Z';
export const SUBJECT = 'user-42';

/** Identifiers that occur in more than one example. */
export const ID = {
  agent: 'agt_01kg9e3x4yf0wb6p2m8s5t7v1z',
  version: 'ver_01kg9e3x4yf0wb6p2m8s5t7v2a',
  session: 'ses_01kg9e6hq2c3d4e5f6g7h8j9ka',
  turn: 'trn_01kg9e6hq2c3d4e5f6g7h8j9kb',
  prompt: 'evt_01kg9e6hq2c3d4e5f6g7h8j9kc',
  running: 'evt_01kg9e6hq2c3d4e5f6g7h8j9kd',
  reply: 'evt_01kg9e6hq2c3d4e5f6g7h8j9ke',
  idle: 'evt_01kg9e6hq2c3d4e5f6g7h8j9kf',
  vault: 'vlt_01kg9eb0m1n2p3q4r5s6t7v8wa',
  credential: 'crd_01kg9eb0m1n2p3q4r5s6t7v8wb',
  automation: 'aut_01kg9ef9x8y7z6w5v4t3s2r1qa',
  key: 'key_01kg9dz0a1b2c3d4e5f6g7h8ja',
  organization: 'org_01kg9dz0a1b2c3d4e5f6g7h8jb',
  signIn: 'sgn_01kg9dz0a1b2c3d4e5f6g7h8jc',
} as const;

/** What stands for each parameter of a path. */
export const PARAMETERS: Readonly<Record<string, string>> = {
  agentId: ID.agent,
  subjectId: SUBJECT,
  sessionId: ID.session,
  eventId: ID.reply,
  index: '0',
  actionId: ID.reply,
  webhookId: 'whk_01kg9e6hq2c3d4e5f6g7h8j9kz',
  deliveryId: 'msg_2b7f3f0c9a3e4f1f8f0f5d6c7b8a9e10',
  vaultId: ID.vault,
  credentialId: ID.credential,
  automationId: ID.automation,
  keyId: ID.key,
  scope: 'key',
  id: ID.key,
  tagName: 'next',
  version: '1',
  serverName: 'issues',
  tool: 'terminal',
};

/** The envelope of a list that is shown whole; it can be read by offset and by cursor. */
export function anyListExample(...data: unknown[]) {
  const pagination = { limit: 50, offset: 0, hasMore: false, total: data.length, nextCursor: null };
  return { object: 'list', data, pagination };
}

/** The envelope of a list that is read by cursor alone, shown whole. */
export function cursorListExample(...data: unknown[]) {
  return { object: 'list', data, pagination: { limit: 50, hasMore: false, nextCursor: null } };
}
