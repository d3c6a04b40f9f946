// Measures a turn late in a long session: 1,000 consecutive turns of one session over an HTTP provider whose window
// makes the session compact, so that the prompts of the first and the last turns have the same size. Floor: the first
// block of the same session.
// Needs: nothing; PostgreSQL, NATS and Redis (make services) add the shared backends.
// TURNS=400 WINDOW=1000000 node bench/long-session.ts measures a session that is never compacted.
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, milliseconds, printMachine, quantile } from './support/figures.ts';
import { startBenchServer } from './support/server.ts';
import { startStacks } from './support/stacks.ts';

const TURNS = Number(process.env['TURNS'] ?? 1000);
const WINDOW = Number(process.env['WINDOW'] ?? 16_000);
const BLOCK = 50;
/** Turns before the first block: the window fills once, and the process warms up. */
const WARM_UP = 100;
const PROMPT = 'Say in one line what the weather is like. '.repeat(4);

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** A provider that answers at once with one line, and counts four characters of the request as a token. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readText(request);
  const usage = { prompt_tokens: Math.ceil(body.length / 4), completion_tokens: 10 };
  const head = { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'line' };
  const send = (more: object) => response.write(`data: ${JSON.stringify({ ...head, ...more })}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Fine, with a light wind from the west.' } }] });
  send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage });
  response.end('data: [DONE]\n\n');
}

/** Sends prompts to one session and waits for the end of each turn. Returns the time of each, in milliseconds. */
async function runTurns(url: string, key: string, sessionId: string): Promise<number[]> {
  const abort = new AbortController();
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const path = `${url}/v1/sessions/${sessionId}/events`;
  const stream = await fetch(`${path}/stream`, { headers, signal: abort.signal });
  let ended: () => void = () => undefined;
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream.body ?? []) {
      if (decoder.decode(chunk, { stream: true }).includes('event: session.status_idle')) ended();
    }
  })().catch(() => undefined);
  const body = JSON.stringify({ events: [{ type: 'user.message', content: [{ type: 'text', text: PROMPT }] }] });
  const times: number[] = [];
  for (let turn = 0; turn < WARM_UP + TURNS; turn += 1) {
    const started = performance.now();
    const idle = new Promise<void>((resolve) => (ended = resolve));
    const response = await fetch(path, { method: 'POST', headers, body });
    if (response.status === 429) {
      // An agent accepts at most 1,000 prompts per minute; the wait is not measured.
      await response.arrayBuffer();
      await sleep(1000);
      turn -= 1;
      continue;
    }
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    await response.arrayBuffer();
    await idle;
    if (turn >= WARM_UP) times.push(performance.now() - started);
  }
  abort.abort();
  return times;
}

async function measure(env: Record<string, string>, config: string): Promise<number[]> {
  const server = await startBenchServer({ ...env, CAPSTAN_CONFIG: config });
  const agent = await server.call<{ id: string }>('POST', '/v1/agents', {
    name: 'bench',
    modelName: 'mock/line',
    systemPrompt: '',
    skills: [],
    tools: [],
    rateLimits: { messagesPerMinute: 1000, conversationsPerMinute: 300 },
  });
  const body = { agentId: agent.id, subjectId: 'bench', title: 'bench' };
  const session = await server.call<{ id: string }>('POST', '/v1/sessions', body);
  const times = await runTurns(server.url, server.key, session.id);
  await server.close();
  return times;
}

printMachine();
const provider = createServer((request, response) => void answer(request, response));
await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
const folder = await mkdtemp(join(tmpdir(), 'capstan-bench-'));
const config = join(folder, 'capstan.yaml');
const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
const models = [{ id: 'line', contextWindow: WINDOW }];
const providers = { mock: { format: 'chat-completions', baseUrl, apiKey: 'none', models } };
await writeFile(config, JSON.stringify({ providers }));
const stacks = await startStacks();
for (const stack of stacks) {
  const times = await measure(stack.env, config);
  const first = times.slice(0, BLOCK);
  const last = times.slice(-BLOCK);
  console.log(
    `${stack.name}: p50 of the first ${BLOCK} turns ${milliseconds(median(first))}, of the last ${BLOCK} of ${TURNS} ` +
      `${milliseconds(median(last))} (${(median(last) / median(first)).toFixed(2)} times), p99 of all ` +
      milliseconds(quantile(times, 0.99)),
  );
}
await Promise.all(stacks.map((stack) => stack.close()));
provider.closeAllConnections();
provider.close();
await rm(folder, { recursive: true });
