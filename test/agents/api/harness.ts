import type { FastifyInstance, InjectOptions } from 'fastify';
import { buildServer } from '../../../src/agents/api/server.ts';
import type { ServerOptions } from '../../../src/platform/http/server.ts';
import { writeJournal } from '../../../src/agents/store/journal.ts';
import type { Agent } from '../../../src/agents/contract/agents.ts';
import type { ErrorBody } from '../../../src/platform/contract/errors.ts';
import type { Session } from '../../../src/agents/contract/sessions.ts';
import { SCOPES } from '../../../src/platform/contract/keys.ts';
import { newId } from '../../../src/platform/ids.ts';
import { createKey } from '../../../src/platform/store/keys.ts';
import { openTestBackends } from '../../support/backends.ts';
import type { TestBackends } from '../../support/backends.ts';
import { checkDocumented } from '../../support/documented.ts';
import { buildRawEvent } from '../../support/events.ts';

/** `T` is the expected body type; it is not checked. */
export type Reply<T> = { status: number; headers: Record<string, unknown>; body: T; text: string };

export type Request = {
  key?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
};

export type Api = {
  app: FastifyInstance;
  backends: TestBackends;
  /** of the organization `default`, all scopes */
  key: string;
  /** of another organization, all scopes */
  otherKey: string;
  call<T = ErrorBody>(method: string, path: string, request?: Request): Promise<Reply<T>>;
  close(): Promise<void>;
};

async function send<T>(
  app: FastifyInstance,
  method: string,
  path: string,
  { key, body, headers = {} }: Request,
): Promise<Reply<T>> {
  const options: InjectOptions = {
    method,
    url: path,
    headers: {
      ...(typeof key === 'string' ? { 'x-api-key': key } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  };
  const response = await app.inject(options);
  const isJson = String(response.headers['content-type']).startsWith('application/json') && response.body !== '';
  const value: unknown = isJson ? JSON.parse(response.body) : undefined;
  // Checks every response against the document.
  checkDocumented(method, path, response.statusCode, value);
  return { status: response.statusCode, headers: response.headers, body: value as T, text: response.body };
}

/** The server on embedded backends, with two organizations. */
export async function openApi(options: ServerOptions = {}): Promise<Api> {
  const backends = await openTestBackends();
  const make = async (organization: string) => {
    const key = { name: 'test', organization, scopes: [...SCOPES], requestsPerMinute: 1_000_000 };
    return (await createKey(backends.db, key)).key;
  };
  const [key, otherKey] = [await make('default'), await make('other')];
  const app = buildServer(backends, options);
  await app.ready();
  return {
    app,
    backends,
    key,
    otherKey,
    call: <T>(method: string, path: string, request: Request = {}) =>
      send<T>(app, method, path, { ...request, key: request.key === undefined ? key : request.key }),
    close: async () => {
      await app.close();
      await backends.close();
    },
  };
}

export const AGENT = { name: 'Ada', modelName: 'script/demo', systemPrompt: 'Be brief.', skills: [], tools: [] };

export async function makeAgent(api: Api, more: object = {}, key = api.key): Promise<string> {
  const reply = await api.call<Agent>('POST', '/v1/agents', {
    key,
    body: { ...AGENT, rateLimits: { conversationsPerMinute: 300 }, ...more },
  });
  if (reply.status !== 201) throw new Error(reply.text);
  return reply.body.id;
}

export async function makeSession(api: Api, agentId: string, more: object = {}, key = api.key): Promise<string> {
  const reply = await api.call<Session>('POST', '/v1/sessions', { key, body: { agentId, subjectId: 'anna', ...more } });
  if (reply.status !== 201) throw new Error(reply.text);
  return reply.body.id;
}

/** Puts a session into the middle of a turn, as a worker would: running, or waiting for an approval. */
export async function beginTurn(api: Api, sessionId: string, state: 'running' | 'waiting'): Promise<string> {
  const turnId = newId('trn');
  const askId = newId('evt');
  await writeJournal(api.backends.db, [
    {
      sessionId,
      epoch: null,
      events: [
        { id: newId('evt'), turnId, status: 'complete', payload: { type: 'session.status_running' } },
        ...(state === 'running'
          ? []
          : [buildRawEvent({ type: 'agent.approval_request', id: askId }, { id: askId, turnId })]),
      ],
      session: { status: state === 'running' ? 'running' : 'waiting_on_human', liveTurn: turnId },
      turn: { id: turnId, state },
      ...(state === 'running'
        ? {}
        : {
            asks: [
              {
                id: askId,
                turnId,
                type: 'agent.approval_request',
                toolUseId: 'use',
                toolName: 'terminal',
                deadline: null,
              },
            ],
          }),
    },
  ]);
  return askId;
}
