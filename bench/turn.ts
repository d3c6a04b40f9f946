// Measures the overhead of a turn: from the POST of a prompt to the frame `session.status_idle`, with the built-in
// model, which answers at once; then turns per second with many concurrent sessions. Floor: the same client against a
// bare node:http server that answers the POST and writes one frame.
// Needs: nothing; PostgreSQL, NATS and Redis (make services) add the shared backends.
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { median, milliseconds, printMachine, quantile } from './support/figures.ts';
import { startBenchServer } from './support/server.ts';
import type { BenchServer } from './support/server.ts';
import { startStacks } from './support/stacks.ts';

const ROUNDS = 3;
const SEQUENTIAL = 150;
const WARM_UP = 20;
const SUBJECTS = 64;
const CONCURRENT_TURNS = 2000;

type Watched = { send(): Promise<void>; close(): void };

/** Opens the stream of a session; `send` resolves when the turn has ended. */
async function watch(url: string, key: string, sessionId: string): Promise<Watched> {
  const abort = new AbortController();
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const path = `${url}/v1/sessions/${sessionId}/events`;
  const stream = await fetch(`${path}/stream`, { headers, signal: abort.signal });
  let ended: () => void = () => undefined;
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream.body ?? []) {
      const text = decoder.decode(chunk, { stream: true });
      if (text.includes('event: session.status_idle')) ended();
    }
  })().catch(() => undefined);
  const body = JSON.stringify({ events: [{ type: 'user.message', content: [{ type: 'text', text: 'hello' }] }] });
  return {
    async send() {
      const idle = new Promise<void>((resolve) => (ended = resolve));
      const response = await fetch(path, { method: 'POST', headers, body });
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
      await response.arrayBuffer();
      await idle;
    },
    close: () => abort.abort(),
  };
}

async function openSessions(server: BenchServer, count: number): Promise<Watched[]> {
  const agent = await server.call<{ id: string }>('POST', '/v1/agents', {
    name: 'bench',
    modelName: 'script/demo',
    systemPrompt: '',
    skills: [],
    tools: [],
    rateLimits: { messagesPerMinute: 1000, conversationsPerMinute: 300 },
  });
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const body = { agentId: agent.id, subjectId: `subject-${index}`, title: 'bench' };
      const session = await server.call<{ id: string }>('POST', '/v1/sessions', body);
      return watch(server.url, server.key, session.id);
    }),
  );
}

type Figures = { times: number[]; perSecond: number };

async function measureTurns(sessions: readonly Watched[]): Promise<Figures> {
  const times: number[] = [];
  for (let turn = 0; turn < SEQUENTIAL; turn += 1) {
    const started = performance.now();
    await sessions[turn % SUBJECTS]?.send();
    if (turn >= WARM_UP) times.push(performance.now() - started);
  }
  let left = CONCURRENT_TURNS;
  const started = performance.now();
  await Promise.all(
    sessions.map(async (session) => {
      while (left-- > 0) await session.send();
    }),
  );
  const perSecond = (CONCURRENT_TURNS / (performance.now() - started)) * 1000;
  sessions.forEach((session) => session.close());
  return { times, perSecond };
}

async function measure(env: Record<string, string>): Promise<Figures> {
  const server = await startBenchServer(env);
  const figures = await measureTurns(await openSessions(server, SUBJECTS));
  await server.close();
  return figures;
}

async function measureFloor(): Promise<Figures> {
  const streams = new Map<string, ServerResponse>();
  const server = createServer((request, response) => {
    const session = (request.url ?? '').split('/')[3] ?? '';
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      streams.set(session, response);
      return;
    }
    request.resume().on('end', () => {
      response.end('{}');
      streams.get(session)?.write('event: session.status_idle\ndata: {}\n\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const sessions = await Promise.all(Array.from({ length: SUBJECTS }, (_, index) => watch(url, 'none', `s${index}`)));
  const figures = await measureTurns(sessions);
  server.closeAllConnections();
  server.close();
  return figures;
}

printMachine();
const stacks = await startStacks();
const arms = [
  { name: 'floor: bare node:http', run: measureFloor },
  ...stacks.map((stack) => ({ name: stack.name, run: () => measure(stack.env) })),
];
const results = new Map<string, { p50: number[]; p99: number[]; perSecond: number[] }>();
for (let round = 0; round < ROUNDS; round += 1) {
  for (const { name, run } of arms) {
    const { times, perSecond } = await run();
    const result = results.get(name) ?? { p50: [], p99: [], perSecond: [] };
    result.p50.push(median(times));
    result.p99.push(quantile(times, 0.99));
    result.perSecond.push(perSecond);
    results.set(name, result);
  }
}
for (const [name, { p50, p99, perSecond }] of results) {
  console.log(
    `${name}: turn p50 ${milliseconds(median(p50))}, p99 ${milliseconds(median(p99))}, ${median(perSecond).toFixed(0)} turns/s with ${SUBJECTS} sessions (median of ${ROUNDS} rounds)`,
  );
}
await Promise.all(stacks.map((stack) => stack.close()));
