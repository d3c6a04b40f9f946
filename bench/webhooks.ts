// Measures deliveries of webhooks: from the time that an event was stored at to the endpoint's receipt of it, for turns of
// many sessions at once. Then the same with a second webhook of the organization whose endpoint never answers. The aim is
// 1 s at p95. Floor: a POST of the same size from this process to the same endpoint.
// Needs: nothing; PostgreSQL, NATS and Redis (make services) add the shared backends.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { median, milliseconds, printMachine, quantile } from './support/figures.ts';
import { startBenchServer } from './support/server.ts';
import type { BenchServer } from './support/server.ts';
import { startStacks } from './support/stacks.ts';

const SESSIONS = 32;
const TURNS = 320;
/** between turns, so that deliveries are measured and not a queue of turns */
const PAUSE_MS = 100;
const FLOOR_CALLS = 200;

type Delivery = { data: { sessionId: string; eventId: string } };
type Stored = { id: string; createdAt: string };

/** When each event came, ms since 1970. */
const received = new Map<string, number>();
const waiting = new Set<() => void>();

const endpoint = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const at = performance.timeOrigin + performance.now();
    const { data } = JSON.parse(Buffer.concat(chunks).toString()) as Delivery;
    received.set(data.eventId, at);
    response.writeHead(204).end();
    for (const check of waiting) check();
  });
});
/** Takes requests and answers none. */
const dead = createServer((request) => void request.resume());

async function listen(server: typeof endpoint): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function waitForDeliveries(count: number): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (received.size < count) return;
      waiting.delete(check);
      resolve();
    };
    waiting.add(check);
    check();
  });
}

async function measureTurns(server: BenchServer): Promise<number[]> {
  const agent = await server.call<{ id: string }>('POST', '/v1/agents', {
    name: 'bench',
    modelName: 'script/demo',
    systemPrompt: '',
    skills: [],
    tools: [],
    rateLimits: { messagesPerMinute: 1000, conversationsPerMinute: 300 },
  });
  const sessions = await Promise.all(
    Array.from({ length: SESSIONS }, (_, index) =>
      server.call<{ id: string }>('POST', '/v1/sessions', {
        agentId: agent.id,
        subjectId: `s${index}`,
        title: 'bench',
      }),
    ),
  );
  received.clear();
  const events = [{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }];
  for (let turn = 0; turn < TURNS; turn += 1) {
    await server.call('POST', `/v1/sessions/${sessions[turn % SESSIONS]?.id}/events`, { events });
    await sleep(PAUSE_MS);
  }
  await waitForDeliveries(TURNS);
  const delays: number[] = [];
  for (const { id } of sessions) {
    const { data } = await server.call<{ data: Stored[] }>('GET', `/v1/sessions/${id}/events?limit=100`);
    for (const event of data) {
      const at = received.get(event.id);
      if (at !== undefined) delays.push(at - Date.parse(event.createdAt));
    }
  }
  return delays;
}

async function measureFloor(host: string): Promise<number[]> {
  const delays: number[] = [];
  for (let index = 0; index < FLOOR_CALLS; index += 1) {
    const started = performance.now();
    const body = JSON.stringify({ data: { sessionId: 'floor', eventId: `floor ${index}`, padding: 'x'.repeat(500) } });
    await fetch(`http://${host}/hook`, { method: 'POST', body });
    delays.push(performance.now() - started);
  }
  return delays;
}

function print(name: string, delays: readonly number[]): void {
  const figures = [median(delays), quantile(delays, 0.95), quantile(delays, 0.99)].map(milliseconds).join(' | ');
  console.log(`| ${name} | ${figures} | ${delays.length} |`);
}

printMachine();
const [host, deadHost] = await Promise.all([listen(endpoint), listen(dead)]);
const stacks = await startStacks();
console.log('| deliveries | p50 | p95 | p99 | count |\n|---|---|---|---|---|');
print('floor: POST to the endpoint', await measureFloor(host));
for (const { name, env } of stacks) {
  const server = await startBenchServer({ ...env, CAPSTAN_EGRESS_ALLOW: `${host},${deadHost}` });
  const add = async (address: string): Promise<void> => {
    const body = { url: `http://${address}/hook`, events: ['session.status_idle'] };
    const headers = { 'x-api-key': server.adminKey, 'content-type': 'application/json' };
    const path = `${server.url}/v1/webhooks`;
    const { status } = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
    if (status !== 201) throw new Error(`POST /v1/webhooks: ${status}`);
  };
  await add(host);
  print(name, await measureTurns(server));
  await add(deadHost);
  print(`${name}, beside an endpoint that never answers`, await measureTurns(server));
  await server.close();
}
await Promise.all(stacks.map((stack) => stack.close()));
for (const server of [endpoint, dead]) {
  server.closeAllConnections();
  server.close();
}
