import type { Agent } from '../../src/agents/contract/agents.ts';
import type { EventEnvelope } from '../../src/agents/contract/events.ts';
import type { Session } from '../../src/agents/contract/sessions.ts';
import { openClient } from '../agents/api/events/client.ts';
import { checkDocumented, findMismatch } from './documented.ts';

export type Reply<T> = { status: number; body: T };
export type EventReply = Reply<{ data: EventEnvelope[]; error?: string; retryable?: boolean }>;

/** A session and its stream, as an application uses them. */
export type Chat = {
  agent: Agent;
  id: string;
  /** everything the stream brought, deltas too */
  frames: EventEnvelope[];
  /** The first frame past the last one that was found, of this type or kind. */
  next(wanted: string | ((frame: EventEnvelope) => boolean)): Promise<EventEnvelope>;
  send(...events: object[]): Promise<EventReply>;
  prompt(text: string): Promise<EventReply>;
  /** sends a prompt and waits for the end of its turn */
  run(text: string): Promise<EventEnvelope>;
  /** the whole history */
  list(): Promise<EventEnvelope[]>;
  session(): Promise<Session>;
  close(): void;
};

export type Api = {
  url: string;
  call<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Reply<T>>;
  createAgent(fields?: object): Promise<Agent>;
  /** with a title, unless `title` is given as undefined */
  openChat(agent?: Agent, fields?: object, query?: string): Promise<Chat>;
  /** another client on an existing session */
  joinChat(agent: Agent, id: string, query?: string): Promise<Chat>;
};

const PATIENCE_MS = 120_000;

export function buildApi(url: string, key: string, modelName: string): Api {
  const call = async <T>(method: string, path: string, body?: unknown): Promise<Reply<T>> => {
    const response = await fetch(url + path, {
      method,
      headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const value: unknown = await response.json();
    checkDocumented(method, path, response.status, value);
    return { status: response.status, body: value as T };
  };
  const make = async <T>(path: string, body: unknown): Promise<T> => {
    const made = await call<T>('POST', path, body);
    if (made.status !== 201) throw new Error(`${path}: ${made.status} ${JSON.stringify(made.body)}`);
    return made.body;
  };
  const api: Api = {
    url,
    call,
    createAgent: (fields = {}) =>
      make('/v1/agents', {
        name: 'Ada',
        modelName,
        systemPrompt: 'Be brief.',
        skills: [],
        tools: [],
        rateLimits: { conversationsPerMinute: 300, messagesPerMinute: 1000 },
        ...fields,
      }),
    async openChat(agent, fields = {}, query) {
      const owner = agent ?? (await api.createAgent());
      const body = { agentId: owner.id, subjectId: 'anna', title: 'Test', ...fields };
      const session = await make<Session>('/v1/sessions', body);
      return api.joinChat(owner, session.id, query);
    },
    joinChat: (agent, id, query) => joinChat({ url, key, call }, agent, id, query),
  };
  return api;
}

type Source = { url: string; key: string; call: Api['call'] };

async function joinChat({ url, key, call }: Source, agent: Agent, id: string, query = ''): Promise<Chat> {
  const frames: EventEnvelope[] = [];
  const checks = new Set<() => void>();
  let at = 0;
  let mismatch: string | undefined;
  const client = await openClient({ url, key, sessionId: id, query }, ({ data }) => {
    frames.push(data);
    mismatch ??= findMismatch(['components', 'schemas', 'EventEnvelope'], data);
    checks.forEach((check) => check());
  });
  const path = `/v1/sessions/${id}`;
  const chat: Chat = {
    agent,
    id,
    frames,
    next(wanted) {
      const fits = typeof wanted === 'string' ? (frame: EventEnvelope) => frame.type === wanted : wanted;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          checks.delete(check);
          reject(new Error(`no ${String(wanted)} after ${at} of: ${frames.map((frame) => frame.type).join(' ')}`));
        }, PATIENCE_MS);
        const check = () => {
          if (mismatch !== undefined) return reject(new Error(`a frame that is not documented: ${mismatch}`));
          for (; at < frames.length; at += 1) {
            const frame = frames[at];
            if (frame === undefined || !fits(frame)) continue;
            at += 1;
            checks.delete(check);
            clearTimeout(timer);
            return resolve(frame);
          }
        };
        checks.add(check);
        check();
      });
    },
    send: (...events) => call('POST', `${path}/events`, { events }),
    prompt: (text) => chat.send(prompt(text)),
    async run(text) {
      const sent = await chat.prompt(text);
      if (sent.status !== 200) throw new Error(`${sent.status} ${JSON.stringify(sent.body)}`);
      return chat.next('session.status_idle');
    },
    async list() {
      const events: EventEnvelope[] = [];
      for (;;) {
        const page = await call<{ data: EventEnvelope[]; pagination: { after: number; hasMore: boolean } }>(
          'GET',
          `${path}/events?after=${events.at(-1)?.sequence ?? 0}`,
        );
        events.push(...page.body.data);
        if (!page.body.pagination.hasMore) return events;
      }
    },
    session: async () => (await call<Session>('GET', path)).body,
    close: () => client.cut(),
  };
  return chat;
}

const blocks = (text: string) => [{ type: 'text', text }];

export const prompt = (text: string, more: object = {}): object => ({
  type: 'user.message',
  content: blocks(text),
  ...more,
});
export const steer = (message: string): object => ({ type: 'user.steer', message });
export const interrupt = (message?: string): object => ({ type: 'user.interrupt', message });
export const allow = (approval_id: string, scope?: string): object => ({
  type: 'user.approval_response',
  approval_id,
  result: 'allow',
  scope,
});
export const deny = (approval_id: string): object => ({ type: 'user.approval_response', approval_id, result: 'deny' });
export const toolResult = (tool_use_id: string, text: string, status?: string): object => ({
  type: 'user.custom_tool_result',
  tool_use_id,
  content: blocks(text),
  status,
});
export const clarifyResult = (request_id: string, answer: string): object => ({
  type: 'user.clarify_result',
  request_id,
  answer,
});

/** Text of the first block of a message, of a tool's result and the like. */
export function textOf(event: EventEnvelope | undefined): string {
  const content = (event?.payload['content'] ?? []) as { text: string }[];
  return content.map((block) => block.text).join('');
}

/** The types in order, without those that exist only on the stream. */
export function typesOf(events: readonly EventEnvelope[]): string[] {
  return events.map((event) => event.type);
}

export const allowAll = [
  { type: 'agent_toolset', defaultConfig: { enabled: true, permissionPolicy: { type: 'always_allow' } } },
];

export const customTool = (name: string, policy: string): object => ({
  type: 'custom_tool',
  name,
  description: 'Does something in the application.',
  input_schema: { type: 'object', properties: { id: { type: 'string' } } },
  permissionPolicy: { type: policy },
});
