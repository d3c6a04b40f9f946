import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook as Verifier } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { decideRetry } from '../../src/agents/worker/webhooks.ts';
import type { Webhook, WebhookDelivery } from '../../src/platform/contract/webhooks.ts';
import { callTool, say } from '../support/service-model.ts';
import { startService } from '../support/service.ts';
import type { Service } from '../support/service.ts';

type Body = { type: string; id: string; data: { sessionId: string; subjectId: string; eventId: string } };
type Received = { headers: Record<string, string>; text: string; body: Body };

/** An endpoint that answers with the current `status`. */
async function openReceiver() {
  const received: Received[] = [];
  const receiver = { received, status: () => 204, url: '', close: () => server.close() };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      received.push({ headers: request.headers as Record<string, string>, text, body: JSON.parse(text) as Body });
      response.writeHead(receiver.status()).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return receiver;
}

let service: Service;
let receiver: Awaited<ReturnType<typeof openReceiver>>;
const made: string[] = [];
beforeAll(async () => {
  service = await startService({ workers: 2 });
  receiver = await openReceiver();
});
afterEach(async () => {
  for (const id of made.splice(0)) await service.api.call('DELETE', `/v1/webhooks/${id}`);
  receiver.received.length = 0;
  receiver.status = () => 204;
});
afterAll(async () => {
  receiver.close();
  await service.close();
});

async function create(events: unknown, more: object = {}) {
  const body = { url: receiver.url, events, ...more };
  const { status, body: webhook } = await service.api.call<Webhook & { secret: string }>('POST', '/v1/webhooks', body);
  expect(status).toBe(201);
  made.push(webhook.id);
  return webhook;
}

const listDeliveries = async (id: string) =>
  (await service.api.call<{ data: WebhookDelivery[] }>('GET', `/v1/webhooks/${id}/deliveries`)).body.data;

it('tells of a session in order, signed, without content', async () => {
  const { id, secret } = await create(['session.status_running', 'session.status_idle']);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/=]{32}$/);
  service.model.play(say('A secret.'), say('Another.'));
  const chat = await service.api.openChat();
  await chat.run('one');
  await chat.run('two');
  await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(4);
  expect(receiver.received.map(({ body }) => body.type)).toEqual([
    'session.status_running',
    'session.status_idle',
    'session.status_running',
    'session.status_idle',
  ]);
  const events = (await chat.list()).filter(({ type }) => type.startsWith('session.status'));
  expect(receiver.received.map(({ body }) => body.data.eventId)).toEqual(events.map((event) => event.id));
  for (const { headers, text, body } of receiver.received) {
    expect(new Verifier(secret).verify(text, headers)).toEqual(body);
    expect(headers['webhook-id']).toBe(body.id);
    expect(text).not.toContain('secret');
  }
  await expect
    .poll(async () => (await listDeliveries(id)).map(({ state }) => state))
    .toEqual(Array(4).fill('delivered'));
  const reads = await service.api.call<{ data: object[] }>('GET', `/v1/audit?action=readSecret&resource=webhook/${id}`);
  expect(reads.body.data).toMatchObject([
    { actor: { type: 'system', id: 'worker' }, changes: { server: new URL(receiver.url).origin } },
  ]);
  chat.close();
});

it('retries a rejected delivery under the same id, and redelivers on request', async () => {
  const { id } = await create(['session.status_idle'], { fullEvent: true });
  receiver.status = () => (receiver.received.length === 1 ? 500 : 200);
  service.model.play(say('Hello.'));
  const chat = await service.api.openChat();
  const idle = await chat.run('one');
  await expect.poll(() => receiver.received.length).toBe(1);
  await expect.poll(async () => (await listDeliveries(id))[0]).toMatchObject({ attempts: 1, lastStatus: 500 });
  const read = async () => (await service.api.call<Webhook>('GET', `/v1/webhooks/${id}`)).body;
  expect((await read()).failingSince).not.toBeNull();
  await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(2);
  const [first, second] = receiver.received;
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  expect(first?.body.data).toMatchObject({ event: { id: idle.id, payload: idle.payload } });
  await expect.poll(async () => (await listDeliveries(id))[0]?.state).toBe('delivered');
  expect((await read()).failingSince).toBeNull();
  const path = `/v1/webhooks/${id}/deliveries/${first?.body.id}/redeliver`;
  expect((await service.api.call('POST', path)).status).toBe(202);
  await expect.poll(() => receiver.received.length).toBe(3);
  expect(receiver.received[2]?.body.id).toBe(first?.body.id);
  chat.close();
});

it('notifies of pending actions; test and rotation work', async () => {
  const { id, secret } = await create('*');
  const rotated = await service.api.call<{ secret: string }>('POST', `/v1/webhooks/${id}/rotate-secret`);
  await service.api.call('POST', `/v1/webhooks/${id}/test`);
  await expect.poll(() => receiver.received.length).toBe(1);
  const [test] = receiver.received;
  expect(test?.body).toMatchObject({ type: 'webhook.test', data: { sessionId: null } });
  for (const each of [secret, rotated.body.secret]) {
    expect(new Verifier(each).verify(test?.text ?? '', test?.headers ?? {})).toEqual(test?.body);
  }
  service.model.play(callTool('clarify', { question: 'Which?' }));
  const chat = await service.api.openChat();
  await chat.run('one');
  const types = () => receiver.received.map(({ body }) => body.type);
  await expect.poll(types).toContain('clarify.requested');
  await expect.poll(types).toContain('session.status_idle');
  chat.close();
});

it('a dead endpoint delays no other; a switched off one gets nothing', async () => {
  const dead = await create(['session.status_idle'], { url: 'http://127.0.0.1:1/nobody' });
  const off = await create(['session.status_idle'], { enabled: false });
  await create(['session.status_idle']);
  service.model.play(...Array.from({ length: 6 }, () => say('Hello.')));
  for (let number = 0; number < 6; number += 1) {
    const chat = await service.api.openChat();
    await chat.run('one');
    chat.close();
  }
  await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(6);
  expect(await listDeliveries(off.id)).toEqual([]);
  const failed = await listDeliveries(dead.id);
  expect(failed).toHaveLength(6);
  expect(failed.every(({ state }) => state === 'pending')).toBe(true);
  await service.api.call('PATCH', `/v1/webhooks/${dead.id}`, { enabled: false });
  expect((await listDeliveries(dead.id)).every(({ state }) => state === 'failed')).toBe(true);
});

it('bad webhooks are refused', async () => {
  const bad = [
    { url: 'ftp://a', events: '*' },
    { url: 'https://user:pass@a.example', events: '*' },
    { url: 'https://a.example', events: ['x'] },
    { url: 'https://a.example', events: [] },
  ];
  for (const body of bad) expect((await service.api.call('POST', '/v1/webhooks', body)).status).toBe(400);
  expect((await service.api.call('GET', '/v1/webhooks/whk_none')).status).toBe(404);
});

it('waits longer from try to try, and gives up after three days', () => {
  expect([1, 2, 3, 20].map((attempts) => decideRetry(attempts, 0))).toEqual([5, 10, 20, 21_600]);
  expect(decideRetry(20, 3 * 86_400_000)).toBeNull();
});

it('carries the events of a login, under the same id in all retries', async () => {
  const { id, secret } = await create(['login.awaiting_input']);
  const content = { loginId: 'lgn_1', state: 'awaiting_input', kind: 'captcha' };
  const owner = '(SELECT organization_id FROM webhooks WHERE id = $1)';
  await service.db.query(`SELECT notify_webhooks(${owner}, 'login.awaiting_input', $2::jsonb)`, [
    id,
    JSON.stringify(content),
  ]);
  await service.db.query(`SELECT notify_webhooks(${owner}, 'login.failed', '{}')`, [id]);
  await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBe(1);
  const [{ text, headers, body } = { text: '', headers: {}, body: undefined }] = receiver.received;
  expect(new Verifier(secret).verify(text, headers)).toEqual(body);
  expect(body).toMatchObject({ type: 'login.awaiting_input', data: content });
});
