import { mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Webhook as Verifier } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Agent } from '../../src/agents/contract/agents.ts';
import type { Session } from '../../src/agents/contract/sessions.ts';
import type { EventEnvelope } from '../../src/agents/contract/events.ts';
import type { Webhook, WebhookDelivery } from '../../src/platform/contract/webhooks.ts';
import { buildApi } from '../support/chat.ts';
import type { Api } from '../support/chat.ts';
import type { CrashPoint } from '../support/crash/point.ts';
import { spawnServer } from '../support/crash/server.ts';
import type { ServerProcess } from '../support/crash/server.ts';
import { makeScratch } from '../support/scratch.ts';

/** How often each step is hit; `CAPSTAN_WEBHOOK_KILLS=20` for 100 kills. */
const ROUNDS = Number(process.env['CAPSTAN_WEBHOOK_KILLS'] ?? 1);
const KEY = 'cap_key_of_a_server_that_delivers_webhooks';

/** Where the server dies: when its turn has ended, when it connects, when it has sent all, before and after it notes the success. */
const STEPS = ['turn', 'connected', 'sent', 'before', 'after'] as const;
type Step = (typeof STEPS)[number];

type Received = { id: string; eventId: string; signedId: unknown };

const received: Received[] = [];
/** of the webhook, once it is made */
let secret = '';
/** what kills the server that lives */
let strike: { step: Step; server: ServerProcess } | undefined;
const strikeAt = (step: Step): boolean => {
  if (strike?.step !== step) return false;
  strike.server.signal('SIGKILL');
  return true;
};

/** The id in a delivery whose signature holds. Checked on receipt: a signature is valid for minutes. */
function readSigned(text: string, headers: Record<string, string>): unknown {
  try {
    const body = new Verifier(secret).verify(text, headers) as { id: string };
    return headers['webhook-id'] === body.id ? body.id : 'another id in the header';
  } catch (error) {
    return error;
  }
}

const endpoint = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('error', () => undefined);
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const text = Buffer.concat(chunks).toString();
    const { id, data } = JSON.parse(text) as { id: string; data: { eventId: string } };
    if (strikeAt('sent')) return void response.destroy();
    const signedId = readSigned(text, request.headers as Record<string, string>);
    received.push({ id, eventId: data.eventId, signedId });
    // Each delivery has its own connection: one kept from what an earlier life left over would never meet `connected`.
    response.writeHead(204, { connection: 'close' }).end();
  });
});
endpoint.on('connection', (socket) => {
  if (strikeAt('connected')) socket.destroy();
});

const folder = makeScratch('webhook-kills');
const servers: ServerProcess[] = [];
let url: string;

async function start(): Promise<{ server: ServerProcess; api: Api }> {
  const server = spawnServer({
    role: 'all',
    env: {
      TMPDIR: join(folder, 'tmp'),
      CAPSTAN_DATA_DIR: folder,
      CAPSTAN_API_KEY: KEY,
      CAPSTAN_LEASE_SECONDS: '3',
      CAPSTAN_EGRESS_ALLOW: new URL(url).host,
    },
  });
  servers.push(server);
  const ready = await server.ready;
  if (!('url' in ready)) throw new Error(server.output());
  return { server, api: buildApi(ready.url, KEY, 'script/demo') };
}

beforeAll(async () => {
  mkdirSync(join(folder, 'tmp'));
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/hook`;
});
afterAll(async () => {
  for (const server of servers) server.signal('SIGKILL');
  await Promise.all(servers.map(({ ended }) => ended));
  endpoint.closeAllConnections();
  endpoint.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const POINTS: Partial<Record<Step, CrashPoint>> = {
  before: { statement: 'delivered', number: 1, when: 'before' },
  after: { statement: 'delivered', number: 1, when: 'after' },
};

/** A turn whose delivery meets the step. What an earlier life left over may meet it first. */
async function live(agent: Agent, step: Step): Promise<void> {
  const { server, api } = await start();
  const point = POINTS[step];
  if (point === undefined) strike = { step, server };
  else await server.arm(point);
  const work = (async () => {
    const made = await api.call<Session>('POST', '/v1/sessions', { agentId: agent.id, subjectId: 'anna', title: 'T' });
    const body = { events: [{ type: 'user.message', content: [{ type: 'text', text: 'Hello' }] }] };
    await api.call('POST', `/v1/sessions/${made.body.id}/events`, body);
    if (step !== 'turn') return;
    await vi.waitUntil(async () => (await listEnds(api, made.body.id)).length === 1, { timeout: 120_000 });
    strikeAt('turn');
  })().catch(() => undefined);
  expect((await server.ended).signal).toBe('SIGKILL');
  strike = undefined;
  await work;
}

/** All of them, page by page. */
async function listSessions(api: Api): Promise<Session[]> {
  const all: Session[] = [];
  for (;;) {
    const path = `/v1/sessions?limit=100&offset=${all.length}`;
    const { data, pagination } = (await api.call<{ data: Session[]; pagination: { hasMore: boolean } }>('GET', path))
      .body;
    all.push(...data);
    if (!pagination.hasMore) return all;
  }
}

const listEnds = async (api: Api, sessionId: string): Promise<string[]> =>
  (await api.call<{ data: EventEnvelope[] }>('GET', `/v1/sessions/${sessionId}/events?limit=100`)).body.data
    .filter(({ type }) => type === 'session.status_idle')
    .map(({ id }) => id);

test(
  'kills at every step of a delivery lose none; what comes twice has the same id',
  { timeout: 240_000 + ROUNDS * 120_000 },
  async () => {
    const first = await start();
    const agent = await first.api.createAgent();
    const body = { url, events: ['session.status_idle'] };
    const { body: webhook } = await first.api.call<Webhook & { secret: string }>('POST', '/v1/webhooks', body);
    ({ secret } = webhook);
    first.server.signal('SIGKILL');
    await first.server.ended;
    for (let round = 0; round < ROUNDS; round += 1) for (const step of STEPS) await live(agent, step);

    const { api } = await start();
    const path = `/v1/webhooks/${webhook.id}/deliveries?state=pending&limit=100`;
    const sessions = () => listSessions(api);
    await expect.poll(async () => (await sessions()).every(({ status }) => status === 'idle')).toBe(true);
    // A claim of a server that was killed lasts a minute.
    const pending = async () => (await api.call<{ data: WebhookDelivery[] }>('GET', path)).body.data.length;
    await expect.poll(pending, { timeout: 200_000, interval: 1000 }).toBe(0);
    const ends = (await Promise.all((await sessions()).map(({ id }) => listEnds(api, id)))).flat();
    expect(ends.length).toBeGreaterThan(0);
    expect(new Set(received.map(({ eventId }) => eventId))).toEqual(new Set(ends));
    for (const eventId of ends) {
      const ids = received.filter((each) => each.eventId === eventId).map(({ id }) => id);
      expect([eventId, new Set(ids).size]).toEqual([eventId, 1]);
    }
    for (const { id, signedId } of received) expect(signedId).toBe(id);
  },
);
