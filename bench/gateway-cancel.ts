import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { Ready } from './gateway-server.ts';
import { milliseconds, printMachine, quantile } from './support/figures.ts';

/**
 * Measures the time from the client closing its connection to the upstream seeing the close, for each phase of a call.
 * The upstream and the client share this process and its clock.
 * `node bench/gateway-cancel.ts [rounds]`
 * Needs: nothing.
 */
const ROUNDS = Number(process.argv[2] ?? 100);
const AIM_MS = 100;

type Phase = { name: string; stream: boolean; answer: (response: ServerResponse) => void };
const chunk = `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta: { content: 'word ' } }] })}\n\n`;
const head = { 'content-type': 'text/event-stream' };
const PHASES: Phase[] = [
  { name: 'before the answer has begun, streamed', stream: true, answer: () => {} },
  { name: 'before the answer has begun, whole', stream: false, answer: () => {} },
  {
    name: 'after the head of the answer',
    stream: true,
    answer: (response) => response.writeHead(200, head).flushHeaders(),
  },
  {
    name: 'in the middle of a stream',
    stream: true,
    answer: (response) => void response.writeHead(200, head).write(chunk),
  },
  {
    name: 'in the middle, whole',
    stream: false,
    answer: (response) => void response.writeHead(200, head).write(chunk),
  },
  {
    name: 'while the client does not read',
    stream: true,
    answer: (response) => void response.writeHead(200, head).write(chunk.repeat(100_000)),
  },
];

let phase = PHASES[0]!;
let arrived: (() => void) | undefined;
let closed: (() => void) | undefined;
const upstream = createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    response.once('close', () => closed?.());
    phase.answer(response);
    arrived?.();
  });
});
upstream.listen(0, '127.0.0.1');
await once(upstream, 'listening');
const child = fork(new URL('./gateway-server.ts', import.meta.url), [
  'gateway',
  `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
]);
const [ready] = (await once(child, 'message')) as [Ready];
const { hostname, port } = new URL(ready.url);

async function measure({ stream }: Phase, model: string): Promise<number> {
  const came = new Promise<void>((resolve) => (arrived = resolve));
  const gone = new Promise<number>((resolve) => (closed = () => resolve(performance.now())));
  const body = JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hi' }] });
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.pause();
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ready.key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  await came;
  // Waits until everything that the upstream has sent has arrived.
  await new Promise((resolve) => setTimeout(resolve, 20));
  const left = performance.now();
  socket.destroy();
  return (await gone) - left;
}

printMachine();
console.log(`\n| | p50 | p99 | longest of ${ROUNDS} |\n|---|---|---|---|`);
let longest = 0;
for (const model of ['up/small', 'straight/small']) {
  for (phase of PHASES) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) times.push(await measure(phase, model));
    const most = Math.max(...times);
    longest = Math.max(longest, most);
    const name = model === 'up/small' ? 'translated' : 'passed through';
    console.log(
      `| ${phase.name}, ${name} | ${milliseconds(quantile(times, 0.5))} | ${milliseconds(quantile(times, 0.99))} | ${milliseconds(most)} |`,
    );
  }
}
console.log(`\nAim: at most ${AIM_MS} ms in every phase. Longest: ${milliseconds(longest)}.`);
child.disconnect();
upstream.closeAllConnections();
upstream.close();
