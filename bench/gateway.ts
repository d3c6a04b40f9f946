import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { openGatewayParts } from './support/gateway-parts.ts';

/**
 * Compares the gateway with a bare Node proxy, in front of an upstream that answers at once; interleaved rounds,
 * medians. Then calls with and without budgets, in turns.
 * `node bench/gateway.ts [rounds]`
 * Needs: nothing.
 */
const ROUNDS = Number(process.argv[2] ?? 3);
const SEQUENTIAL = 200;
const CONCURRENT = 32;
const REQUESTS = 1500;
const STREAMS = 100;
const CHUNKS = 200;
const BUDGET_CALLS = 2000;

const agent = new Agent({ connections: CONCURRENT, pipelining: 1 });
const parts = openGatewayParts();

type Path = { name: string; url: string; key: string; body: (stream: boolean) => string };

async function call({ url, key, body }: Path, stream: boolean): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const answer = await request(url, { method: 'POST', headers, body: body(stream), dispatcher: agent });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(text);
}

async function inParallel(count: number, width: number, run: () => Promise<void>): Promise<number> {
  const started = performance.now();
  let left = count;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (left-- > 0) await run();
    }),
  );
  return (count * 1000) / (performance.now() - started);
}

async function measure(path: Path) {
  const times: number[] = [];
  for (let index = 0; index < SEQUENTIAL; index += 1) {
    const started = performance.now();
    await call(path, false);
    times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  const rate = await inParallel(REQUESTS, CONCURRENT, () => call(path, false));
  const streams = await inParallel(STREAMS, 16, () => call(path, true));
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  return { p50: at(0.5), p99: at(0.99), rate, chunks: streams * CHUNKS };
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function readResident(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}

const upstream = await parts.start('upstream');
const bare = await parts.start('bare', upstream.url);
const gateway = await parts.start('gateway', upstream.url);
const chat = (model: string) => (stream: boolean) =>
  JSON.stringify({ model, stream, messages: [{ role: 'user', content: stream ? 'Hi' : 'short' }] });
const message = (stream: boolean) =>
  JSON.stringify({
    model: 'up/small',
    max_tokens: 9,
    stream,
    messages: [{ role: 'user', content: stream ? 'Hi' : 'short' }],
  });
const paths: Path[] = [
  { name: 'direct', url: `${upstream.url}/v1/chat/completions`, key: 'none', body: chat('small') },
  { name: 'bare proxy', url: `${bare.url}/v1/chat/completions`, key: 'none', body: chat('small') },
  { name: 'passed through', url: `${gateway.url}/v1/chat/completions`, key: gateway.key, body: chat('straight/small') },
  { name: 'same format, mended', url: `${gateway.url}/v1/chat/completions`, key: gateway.key, body: chat('up/small') },
  { name: 'translated to messages', url: `${gateway.url}/v1/messages`, key: gateway.key, body: message },
];
for (const path of paths) await inParallel(200, 8, () => call(path, false));
const results = new Map(paths.map(({ name }) => [name, [] as Awaited<ReturnType<typeof measure>>[]]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const path of paths) results.get(path.name)?.push(await measure(path));
}
console.log('| | p50, one after the other | p99 | requests/s, 32 at once | chunks/s |\n|---|---|---|---|---|');
for (const [name, rounds] of results) {
  const figure = (key: 'p50' | 'p99' | 'rate' | 'chunks') => median(rounds.map((each) => each[key]));
  const whole = (value: number) => Math.round(value).toLocaleString('en');
  console.log(
    `| ${name} | ${figure('p50').toFixed(2)} ms | ${figure('p99').toFixed(2)} ms | ${whole(figure('rate'))} | ${whole(figure('chunks'))} |`,
  );
}
const arms: [string, string][] = [
  ['no budget', gateway.key],
  ['a budget on another key', gateway.beside ?? ''],
  ['a budget on the organization', gateway.limited ?? ''],
];
const taken = new Map(arms.map(([name]) => [name, [] as number[]]));
for (let turn = 0; turn < BUDGET_CALLS; turn += 1) {
  for (const [name, key] of arms) {
    const started = performance.now();
    await call({ name, url: `${gateway.url}/v1/chat/completions`, key, body: chat('up/small') }, false);
    taken.get(name)?.push(performance.now() - started);
  }
}
console.log('\n| | p50, one after the other |\n|---|---|');
for (const [name, times] of taken) console.log(`| ${name} | ${median(times).toFixed(3)} ms |`);
console.log(`\nThe gateway's resident memory at the end: ${Math.round(readResident(gateway.pid))} MB`);
parts.close();
await agent.close();
