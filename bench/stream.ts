// Measures the time from the start of an append to the frame at the client with 1,000 watched sessions, and the memory
// of 10,000 idle streams. Floor for both: a minimal node:http server.
// Usage: bench/stream.ts [postgres-url [nats-url]]
// Needs: nothing; PostgreSQL and NATS only if their addresses are given.
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Command } from './stream-server.ts';

const WATCHED = 1000;
const APPENDS = 2000;
const PAUSE_MS = 5;
const IDLE = 10_000;
const OPENING = 50;

type Server = { child: ChildProcess; url: URL; key: string; ask(command: Command): Promise<Answer> };

async function startServer(args: string[]): Promise<Server> {
  const child = fork(new URL('./stream-server.ts', import.meta.url), args, { execArgv: ['--expose-gc'] });
  const [{ ready }] = (await once(child, 'message')) as [Extract<Answer, { ready: unknown }>];
  const ask = async (command: Command) => {
    child.send(command);
    const [reply] = (await once(child, 'message')) as [Answer];
    return reply;
  };
  return { child, url: new URL(ready.url), key: ready.key, ask };
}

/** A cheap client: only the socket. */
async function openStream({ url, key }: Server, sessionId: string, onText: (text: string) => void): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname).setEncoding('utf8');
  socket.on('error', (error) => console.error(error.message));
  socket.write(`GET /v1/sessions/${sessionId}/events/stream HTTP/1.1\r\nHost: bench\r\nx-api-key: ${key}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [string];
  if (!head.startsWith('HTTP/1.1 200')) throw new Error(head);
  socket.on('data', onText);
  return socket;
}

async function openStreams(server: Server, ids: readonly string[], onText: (text: string) => void): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let from = 0; from < ids.length; from += OPENING) {
    sockets.push(...(await Promise.all(ids.slice(from, from + OPENING).map((id) => openStream(server, id, onText)))));
  }
  return sockets;
}

const quantile = (sorted: number[], part: number) => sorted[Math.floor(sorted.length * part)]?.toFixed(2);

function describe(name: string, times: number[]): void {
  const sorted = times.slice(WATCHED / 10).sort((left, right) => left - right);
  console.log(`${name}: p50 ${quantile(sorted, 0.5)} ms, p99 ${quantile(sorted, 0.99)} ms, n ${sorted.length}`);
}

async function measure(name: string, args: string[]): Promise<void> {
  const server = await startServer(args);
  const reply = await server.ask({ do: 'sessions', count: IDLE });
  const ids = 'sessions' in reply ? reply.sessions : [];
  const latencies: number[] = [];
  const appends: number[] = [];
  const onText = (text: string) => {
    const now = process.hrtime.bigint();
    for (const [, at = '0'] of text.matchAll(/"at":\s?"(\d+)"/g)) latencies.push(Number(now - BigInt(at)) / 1e6);
  };
  const before = await server.ask({ do: 'memory' });
  const sockets = await openStreams(server, ids.slice(0, WATCHED), onText);
  for (let n = 0; n < APPENDS; n += 1) {
    const sessionId = ids[(n * 7919) % WATCHED] ?? '';
    const appended = await server.ask({ do: 'append', sessionId, at: String(process.hrtime.bigint()) });
    if ('appended' in appended) appends.push(appended.appended);
    await sleep(PAUSE_MS);
  }
  await sleep(5000);
  describe(`${name}, ${WATCHED} watched sessions, append to frame`, latencies);
  if (latencies.length !== APPENDS) console.log(`${name}: ${latencies.length} frames of ${APPENDS}`);
  describe(`${name}, of this the append`, appends);
  sockets.push(...(await openStreams(server, ids.slice(WATCHED), onText)));
  await sleep(10_000);
  const after = await server.ask({ do: 'memory' });
  if ('memory' in before && 'memory' in after) {
    const mib = (bytes: number) => (bytes / 1024 / 1024).toFixed(0);
    const each = ((after.memory.rss - before.memory.rss) / IDLE / 1024).toFixed(1);
    console.log(
      `${name}, ${IDLE} idle streams: ${mib(before.memory.rss)} → ${mib(after.memory.rss)} MiB resident, ${each} KiB each`,
    );
  }
  for (const socket of sockets) socket.destroy();
  server.child.kill('SIGKILL');
}

await measure('floor (bare node:http)', ['bare']);
await measure('capstan', ['api', ...process.argv.slice(2)]);
