import { readNumber, readText } from './input.ts';
import type { FoundMessage, FoundSession, MessageRole, SearchHit } from './ports.ts';
import { answerTool, failTool } from './tool.ts';
import type { Tool, ToolContext, ToolOutcome } from './tool.ts';

const MAX_LIMIT = 10;
const MAX_WINDOW = 20;
const ENDS = 3;
const HIT_WINDOW = 5;
const READ_FIRST = 20;
const READ_LAST = 10;
const ROLES: readonly MessageRole[] = ['user', 'assistant'];
const MAX_QUERY = 1000;

export const sessionSearchTool: Tool = {
  name: 'session_search',
  toolset: 'session_search',
  description:
    'Earlier conversations with this user. With query: finds messages (all words; OR, NOT, "phrase", prefix*), one a ' +
    'session. With session_id and around_message_id: reads on around a message. With session_id alone: reads that ' +
    'session. With nothing: lists the latest sessions. Use it when the user refers to something said before.',
  parameters: {
    type: 'object',
    properties: {
      query: { type: 'string' },
      limit: { type: 'integer', description: '1 to 10', default: 3 },
      sort: { type: 'string', enum: ['newest', 'oldest'], description: 'Absent: the best first' },
      session_id: { type: 'string' },
      around_message_id: { type: 'integer' },
      window: { type: 'integer', description: 'Messages each side, 1 to 20', default: 5 },
      role_filter: {
        type: 'string',
        description: 'user, assistant or both, with a comma between',
        default: 'user,assistant',
      },
    },
  },
  readOnly: true,
  parallelism: () => 'shared',
  run: searchSessions,
};

function clamp(value: number, max: number): number {
  return Math.min(max, Math.max(1, Math.trunc(value)));
}

async function searchSessions(input: Record<string, unknown>, context: ToolContext): Promise<ToolOutcome> {
  const query = readText(input, 'query').trim();
  const sessionId = readText(input, 'session_id').trim();
  const limit = clamp(readNumber(input, 'limit', 3), MAX_LIMIT);
  const around = input['around_message_id'];
  if (sessionId !== '' && typeof around === 'number') {
    return await scroll(sessionId, around, clamp(readNumber(input, 'window', 5), MAX_WINDOW), context);
  }
  if (sessionId !== '') return await readSession(sessionId, context);
  if (query === '') {
    const results = await context.search.listRecent(limit, context.sessionId);
    return answerTool({ success: true, mode: 'browse', results: results.map(describeRecent), count: results.length });
  }
  return await discover(query, limit, input, context);
}

/** Any of the words in place of all of them. Undefined for a single word, and for a query with operators. */
function relaxQuery(query: string): string | undefined {
  if (/["*]|\b(OR|AND|NOT)\b|(^|\s)-/.test(query)) return undefined;
  const words = query.match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.length < 2 ? undefined : words.join(' OR ');
}

async function discover(
  query: string,
  limit: number,
  input: Record<string, unknown>,
  context: ToolContext,
): Promise<ToolOutcome> {
  const wanted = readText(input, 'role_filter')
    .split(',')
    .map((role) => role.trim());
  const roles = ROLES.filter((role) => wanted.includes(role));
  const sort = readText(input, 'sort');
  const find = (text: string) =>
    context.search.find({
      text,
      limit,
      sort: sort === 'newest' || sort === 'oldest' ? sort : 'relevance',
      roles: roles.length === 0 ? ROLES : roles,
      window: HIT_WINDOW,
      ends: ENDS,
      exclude: context.sessionId,
    });
  const strict = await find(query.slice(0, MAX_QUERY));
  const loose = strict.hits.length === 0 ? relaxQuery(query.slice(0, MAX_QUERY)) : undefined;
  const { hits, sessionsSearched } = loose === undefined ? strict : await find(loose);
  const results = hits.map(describeHit);
  return answerTool({
    success: true,
    mode: 'discover',
    query,
    results,
    count: results.length,
    sessions_searched: sessionsSearched,
  });
}

type Shown = { id: number; role: string; content: string; anchor?: true };

function show({ id, role, text }: FoundMessage, anchor?: number): Shown {
  return { id, role, content: text, ...(id === anchor ? { anchor: true as const } : {}) };
}

function describeSession({ sessionId, title, model, source, startedAt }: FoundSession): Record<string, unknown> {
  return { session_id: sessionId, when: startedAt, source, model, title };
}

function describeRecent(session: FoundSession & { preview: string }): Record<string, unknown> {
  return {
    session_id: session.sessionId,
    title: session.title,
    source: session.source,
    started_at: session.startedAt,
    last_active: session.lastActive,
    message_count: session.messageCount,
    preview: session.preview,
  };
}

function describeHit(hit: SearchHit): Record<string, unknown> {
  const { messages, messageId } = hit;
  const at = messages.findIndex((message) => message.id === messageId);
  const from = Math.max(0, at - HIT_WINDOW);
  const near = messages.slice(from, at + HIT_WINDOW + 1);
  return {
    ...describeSession(hit.session),
    matched_role: hit.role,
    match_message_id: messageId,
    snippet: hit.snippet,
    bookend_start: messages.slice(0, Math.min(ENDS, from)).map((message) => show(message)),
    messages: near.map((message) => show(message, messageId)),
    bookend_end: messages.slice(Math.max(at + HIT_WINDOW + 1, messages.length - ENDS)).map((message) => show(message)),
    messages_before: hit.messagesBefore,
    messages_after: hit.messagesAfter,
  };
}

const unknownSession = (id: string) =>
  failTool(`There is no earlier session ${id} with this user.`, { success: false });

async function scroll(
  sessionId: string,
  messageId: number,
  window: number,
  context: ToolContext,
): Promise<ToolOutcome> {
  const session = await context.search.findSession(sessionId);
  if (session === undefined) return unknownSession(sessionId);
  const messages = await context.search.readAround(sessionId, messageId, window);
  if (!messages.some((message) => message.id === messageId)) {
    return failTool(`The session has no message ${messageId}.`, { success: false });
  }
  return answerTool({
    success: true,
    mode: 'scroll',
    ...describeSession(session),
    around_message_id: messageId,
    messages: messages.map((message) => show(message, messageId)),
    message_count: session.messageCount,
  });
}

async function readSession(sessionId: string, context: ToolContext): Promise<ToolOutcome> {
  const session = await context.search.findSession(sessionId);
  if (session === undefined) return unknownSession(sessionId);
  const messages = await context.search.readEnds(sessionId, READ_FIRST, READ_LAST);
  return answerTool({
    success: true,
    mode: 'read',
    ...describeSession(session),
    messages: messages.map((message) => show(message)),
    message_count: session.messageCount,
    truncated: session.messageCount > messages.length,
  });
}
