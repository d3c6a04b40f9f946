import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, waitFor } from './server.ts';
import type { CliServer } from './server.ts';

type Delivered = { headers: IncomingHttpHeaders; body: string };

let server: CliServer;
let sessionId = '';
const delivered: Delivered[] = [];
const hook = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  delivered.push({ headers: request.headers, body: Buffer.concat(chunks).toString('utf8') });
  response.writeHead(delivered.length === 1 ? 500 : 204).end();
});

beforeAll(async () => {
  hook.listen(0, '127.0.0.1');
  await once(hook, 'listening');
  server = await startServer();
  await server.capstan(['agents', 'create', '--name', 'ada', '--model', 'script/demo']);
  const { out } = await server.capstan(['sessions', 'create', 'ada', '--subject', 'me', '--json']);
  ({ id: sessionId } = JSON.parse(out) as { id: string });
});
afterAll(async () => {
  hook.closeAllConnections();
  hook.close();
  await server.close();
});

const target = () => `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`;

it('forwards deliveries to a local address, signed with the secret that it prints', async () => {
  const events = 'session.status_running,session.status_idle';
  const child = server.start(['webhooks', 'listen', '--forward', target(), '--events', events]);
  const shown = await waitFor(child, /Signing secret: whsec_\S+\n/);
  const secret = /whsec_\S+/.exec(shown)?.[0] ?? '';
  const statuses = waitFor(
    child,
    /session\.status_running ses_\S+ {2}msg_\S+ → 500[^]*session\.status_idle ses_\S+ {2}msg_\S+ → 204/,
  );
  await server.capstan(['events', 'send', sessionId, 'hello']);
  await statuses;
  const verified = delivered.map(({ headers, body }) => {
    const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    return new Webhook(secret).verify(body, own);
  });
  expect(verified).toMatchObject([
    { type: 'session.status_running', data: { sessionId, subjectId: 'me', eventId: expect.stringMatching(/^evt_/) } },
    { type: 'session.status_idle', data: { sessionId, subjectId: 'me', eventId: expect.stringMatching(/^evt_/) } },
  ]);
  expect(
    delivered.map(({ headers, body }) => [headers['webhook-id'], (JSON.parse(body) as { id: string }).id]),
  ).toSatisfy((pairs: string[][]) => pairs.every(([header, id]) => header === id));
  child.kill();
});

it('says what it cannot forward', async () => {
  const listen = (...args: string[]) => server.capstan(['webhooks', 'listen', ...args]);
  expect(await listen('--forward', target(), '--events', 'nonsense')).toMatchObject({ code: 2 });
  expect(await listen('--forward', target(), '--events', 'login.failed')).toMatchObject({ code: 2 });
  expect(await listen('--forward', 'ftp://x')).toMatchObject({ code: 2 });
  expect(await listen('--forward', target(), '--secret', 'short')).toMatchObject({ code: 2 });
});

it('exports a session as OpenTelemetry spans', async () => {
  const { code, out } = await server.capstan(['sessions', 'export', sessionId, '--otlp']);
  expect(code).toBe(0);
  const parsed = JSON.parse(out) as { resourceSpans: { scopeSpans: { spans: { name: string }[] }[] }[] };
  const spans = parsed.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans).flatMap((scope) => scope.spans);
  expect(spans.map(({ name }) => name)).toEqual(expect.arrayContaining(['invoke_agent ada', 'chat script/demo']));
});
