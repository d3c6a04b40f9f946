import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fastify } from 'fastify';
import { pino } from 'pino';
import { openMemoryBus } from '../../../../src/platform/bus/memory.ts';
import type { Bus } from '../../../../src/platform/bus/bus.ts';
import type { Db } from '../../../../src/platform/db/db.ts';
import type { Limits } from '../../../../src/platform/limits/limits.ts';
import { openMemoryLimits } from '../../../../src/platform/limits/memory.ts';
import type { EventEnvelope } from '../../../../src/agents/contract/events.ts';
import { openAudit } from '../../../../src/platform/http/audit/audit.ts';
import { openAuthenticator } from '../../../../src/platform/http/auth.ts';
import { DEFAULT_BOUNDS } from '../../../../src/platform/http/bounds.ts';
import { registerBodyParser } from '../../../../src/platform/http/body.ts';
import type { EventDeps } from '../../../../src/agents/api/deps.ts';
import { sendError } from '../../../../src/platform/http/errors.ts';
import { registerEventRoutes } from '../../../../src/agents/api/events/event-routes.ts';
import { openStreamSlots } from '../../../../src/platform/http/stream-slots.ts';
import { openMetrics } from '../../../../src/platform/http/metrics.ts';
import { sha256 } from '../../../../src/platform/crypto.ts';
import { newId } from '../../../../src/platform/ids.ts';
import { openFiles } from '../../../../src/platform/objects/files.ts';

export type Reply = {
  status: number;
  headers: Headers;
  body: { data: EventEnvelope[] } & Record<string, unknown>;
};

/** One replica that serves the event routes, on ports that replicas may share. */
export async function openReplica(ports: { db: Db; bus: Bus; limits: Limits }) {
  const log = pino({ level: 'silent' });
  const folder = await mkdtemp(join(tmpdir(), 'capstan-events-'));
  const objects = await openFiles({ dir: folder });
  const app = fastify();
  const closing = new AbortController();
  const authenticator = openAuthenticator(ports, DEFAULT_BOUNDS);
  const deps: EventDeps = {
    ...ports,
    objects,
    log,
    authenticate: authenticator.authenticate,
    metrics: openMetrics(),
    streamSlots: openStreamSlots(DEFAULT_BOUNDS.streamsPerKey),
    closing: closing.signal,
    audit: openAudit(ports.db, log),
  };
  app.decorateRequest('caller', undefined);
  app.setErrorHandler((error, request, reply) => sendError(log, error, request, reply));
  app.addHook('preClose', async () => closing.abort());
  registerBodyParser(app);
  registerEventRoutes(app, deps);
  await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    metrics: deps.metrics,
    close: async () => {
      await app.close();
      await authenticator.close();
      await objects.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The rows of a session, and a key that may use it. */
export async function openWorld(options: { db: Db; bus?: Bus; limits?: Limits }) {
  const { db } = options;
  const limits = options.limits ?? openMemoryLimits();
  const bus = options.bus ?? openMemoryBus();
  const replica = await openReplica({ db, bus, limits });
  const organizationId = newId('org');
  const key = `cap_${newId('key')}`;
  await db.query('INSERT INTO organizations (id, name) VALUES ($1, $1)', [organizationId]);
  await db.query(
    `INSERT INTO api_keys (id, organization_id, name, prefix, key_sha256, scopes, requests_per_minute)
     VALUES ($1, $2, 'test', 'cap_', $3, '{agents:read,agents:write}', 1000000)`,
    [newId('key'), organizationId, sha256(key)],
  );

  /** A session with its own agent. */
  async function createSession(messagesPerMinute = 1000): Promise<string> {
    const [agentId, versionId, sessionId] = [newId('agt'), newId('ver'), newId('ses')];
    await db.query(
      `INSERT INTO agents (id, organization_id, name, conversations_per_minute, messages_per_minute, latest_version, production_version)
       VALUES ($1, $2, 'test', 300, $3, 0, 0)`,
      [agentId, organizationId, messagesPerMinute],
    );
    await db.query(
      `INSERT INTO sessions (id, organization_id, agent_id, agent_version_id, agent_version, subject_id, title_fixed)
       VALUES ($1, $2, $3, $4, 0, 'anna', true)`,
      [sessionId, organizationId, agentId, versionId],
    );
    return sessionId;
  }

  async function request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(replica.url + path, {
      method,
      headers: { 'x-api-key': key, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Reply['body'] };
  }

  return {
    db,
    bus,
    limits,
    replica,
    key,
    organizationId,
    createSession,
    request,
    send: (sessionId: string, events: unknown[], headers?: Record<string, string>, more: object = {}): Promise<Reply> =>
      request('POST', `/v1/sessions/${sessionId}/events`, { events, ...more }, headers),
    list: (sessionId: string, query = ''): Promise<Reply> => request('GET', `/v1/sessions/${sessionId}/events${query}`),
    close: async () => {
      await replica.close();
      await limits.close();
      await bus.close();
    },
  };
}
export type World = Awaited<ReturnType<typeof openWorld>>;

export function prompt(text: string, more: object = {}): object {
  return { type: 'user.message', content: [{ type: 'text', text }], ...more };
}

export function toolResult(id: string, text: string, status?: string): object {
  const content = [{ type: 'text', text }];
  return { type: 'user.custom_tool_result', tool_use_id: id, content, ...(status === undefined ? {} : { status }) };
}
