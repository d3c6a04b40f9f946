import { execFileSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, milliseconds, printMachine, quantile } from './support/figures.ts';
import { openGatewayParts } from './support/gateway-parts.ts';
import { openLoad } from './support/load.ts';
import type { Path } from './support/load.ts';
import { GATEWAY_CORE, LOAD_CORE, findPort, pin, readCpu, readResident, startForeign } from './support/processes.ts';

/**
 * Compares the gateway with others in front of an upstream that answers at once: each gateway on one core, the load
 * and the upstream on the other, interleaved rounds, medians. Floors: a bare proxy in Node, and nginx. Prints which
 * peers cannot run.
 * `node bench/gateway-peers.ts [rounds]`
 * Needs: nothing; peers come from scripts/install-gateway-peers.sh, and missing ones are skipped.
 */
const ROUNDS = Number(process.argv[2] ?? 5);
// Enough calls for a percentile below the maximum.
const SEQUENTIAL = 1000;
const FIRSTS = 100;
const FLOOD_MS = 2000;
const CHUNKS = 200;

const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'capstan', 'peers');
const folder = mkdtempSync(join(tmpdir(), 'capstan-peers-'));
const parts = openGatewayParts();
const children: ChildProcess[] = [];
type Measured = Path & { pid: number };
const paths: Measured[] = [];

const write = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
const chat = (model: string) => (stream: boolean) =>
  JSON.stringify({ model, stream, messages: [{ role: 'user', content: stream ? 'Hi' : 'short' }] });
const message = (model: string) => (stream: boolean) =>
  JSON.stringify({ model, stream, max_tokens: 9, messages: [{ role: 'user', content: stream ? 'Hi' : 'short' }] });

async function startOwn(core: number, ...args: string[]) {
  const ready = await parts.start(...args);
  pin(ready.pid, core);
  return ready;
}

async function addForeign(
  name: string,
  [command, ...args]: readonly [string, ...string[]],
  port: number,
  env: Record<string, string> = {},
): Promise<number | undefined> {
  const child = await startForeign(command, args, { url: `http://127.0.0.1:${port}/`, env });
  if (child?.pid === undefined) {
    console.log(`${name} does not start here, and is left out.`);
    return undefined;
  }
  children.push(child);
  pin(child.pid, GATEWAY_CORE);
  return child.pid;
}

async function addNginx(upstream: string): Promise<void> {
  const port = await findPort();
  const config = write(
    'nginx.conf',
    `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log /dev/null;
events { worker_connections 1024; }
http { access_log off; client_body_temp_path ${folder}; proxy_temp_path ${folder}; fastcgi_temp_path ${folder};
  uwsgi_temp_path ${folder}; scgi_temp_path ${folder};
  upstream model { server ${new URL(upstream).host}; keepalive 64; }
  server { listen 127.0.0.1:${port}; keepalive_requests 1000000;
    location / { proxy_pass http://model; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; } } }`,
  );
  const pid = await addForeign('nginx', ['nginx', '-c', config, '-e', '/dev/null'], port);
  if (pid !== undefined) {
    paths.push({
      name: 'nginx',
      url: `http://127.0.0.1:${port}/v1/chat/completions`,
      headers: {},
      body: chat('small'),
      pid,
    });
  }
}

/**
 * Portkey 1.15 adds to the headers of a `fetch` response, which Node forbids, and answers every stream with 500. With
 * writable headers it streams, so it gets those here.
 */
const WRITABLE_HEADERS = `const plain = globalThis.fetch;
globalThis.fetch = async (...args) => {
  const response = await plain(...args);
  Object.defineProperty(response, 'headers', { value: new Headers(response.headers) });
  return response;
};
`;

async function addPortkey(upstream: string): Promise<void> {
  const script = join(cache, 'portkey/node_modules/@portkey-ai/gateway/build/start-server.js');
  if (!existsSync(script)) return console.log('Portkey is not installed, and is left out.');
  const port = await findPort();
  const mended = write('writable-headers.mjs', WRITABLE_HEADERS);
  const args = ['--import', mended, script, `--port=${port}`, '--headless'];
  const pid = await addForeign('Portkey', [process.execPath, ...args], port, { NODE_ENV: 'production' });
  if (pid === undefined) return;
  const headers = {
    authorization: 'Bearer k',
    'x-portkey-provider': 'openai',
    'x-portkey-custom-host': `${upstream}/v1`,
  };
  paths.push({
    name: 'Portkey, same format',
    url: `http://127.0.0.1:${port}/v1/chat/completions`,
    headers,
    body: chat('small'),
    pid,
  });
}

async function addLiteLlm(upstream: string): Promise<void> {
  const program = join(cache, 'litellm/venv/bin/litellm');
  if (!existsSync(program)) return console.log('LiteLLM is not installed, and is left out.');
  const port = await findPort();
  const config = write(
    'litellm.yaml',
    `model_list:\n  - model_name: small\n    litellm_params: { model: openai/small, api_base: "${upstream}/v1", api_key: k }\n`,
  );
  const args = [
    '--config',
    config,
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--num_workers',
    '1',
    '--telemetry',
    'False',
  ];
  // It does not start without a key, and checks it as the other gateways check theirs.
  const key = `sk-${randomBytes(32).toString('hex')}`;
  const env = {
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    LITELLM_LOG: 'ERROR',
    LITELLM_MASTER_KEY: key,
    // Otherwise it uses the responses format, which is not the measured pair.
    LITELLM_USE_CHAT_COMPLETIONS_URL_FOR_ANTHROPIC_MESSAGES: 'True',
  };
  const pid = await addForeign('LiteLLM', [program, ...args], port, env);
  if (pid === undefined) return;
  const url = `http://127.0.0.1:${port}`;
  paths.push({
    name: 'LiteLLM, same format',
    url: `${url}/v1/chat/completions`,
    headers: { authorization: `Bearer ${key}` },
    body: chat('small'),
    pid,
  });
  paths.push({
    name: 'LiteLLM, messages to chat',
    url: `${url}/v1/messages`,
    headers: { 'x-api-key': key },
    body: message('small'),
    pid,
  });
}

const load = openLoad(64);
type Figures = {
  p50: number;
  p99: number;
  rate: number;
  cpu: number;
  chunks: number;
  streamCpu: number;
  first: number;
};

async function attempt<T>(run: () => Promise<T>, otherwise: T): Promise<T> {
  return run().catch(() => otherwise);
}

async function measure(path: Measured): Promise<Figures> {
  const none = Number.NaN;
  const calls = await attempt(() => load.sequence(path, false, SEQUENTIAL), []);
  const before = readCpu(path.pid);
  const flood = await attempt(() => load.flood(path, false, { width: 32, ms: FLOOD_MS }), { count: none, ms: 1 });
  const cpu = ((readCpu(path.pid) - before) * 1000) / flood.count;
  const middle = readCpu(path.pid);
  const streams = await attempt(() => load.flood(path, true, { width: 16, ms: FLOOD_MS }), { count: none, ms: 1 });
  const streamCpu = ((readCpu(path.pid) - middle) * 1000) / streams.count;
  const firsts = await attempt(() => load.sequence(path, true, FIRSTS), []);
  const times = calls.map(({ whole }) => whole);
  return {
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    rate: (flood.count * 1000) / flood.ms,
    cpu,
    chunks: (streams.count * CHUNKS * 1000) / streams.ms,
    streamCpu,
    first: quantile(
      firsts.map((each) => each.first),
      0.5,
    ),
  };
}

try {
  execFileSync(fileURLToPath(new URL('../scripts/install-gateway-peers.sh', import.meta.url)), { stdio: 'inherit' });
} catch {
  console.log('The peers could not be installed.');
}
printMachine();
const pinned = pin(process.pid, LOAD_CORE);
if (!pinned) console.log('taskset is missing: nothing is bound to a core');
const upstream = await startOwn(LOAD_CORE, 'upstream');
const bare = await startOwn(GATEWAY_CORE, 'bare', upstream.url);
const gateway = await startOwn(GATEWAY_CORE, 'gateway', upstream.url);
const own = { headers: { authorization: `Bearer ${gateway.key}` }, pid: gateway.pid };
const at = (server: { url: string }, format: string) => `${server.url}/v1/${format}`;
paths.push(
  { name: 'direct', url: at(upstream, 'chat/completions'), headers: {}, body: chat('small'), pid: upstream.pid },
  { name: 'bare proxy of Node', url: at(bare, 'chat/completions'), headers: {}, body: chat('small'), pid: bare.pid },
);
await addNginx(upstream.url);
paths.push(
  { name: 'Capstan, passed through', url: at(gateway, 'chat/completions'), ...own, body: chat('straight/small') },
  { name: 'Capstan, same format, mended', url: at(gateway, 'chat/completions'), ...own, body: chat('up/small') },
  { name: 'Capstan, messages to chat', url: at(gateway, 'messages'), ...own, body: message('up/small') },
);
await addPortkey(upstream.url);
await addLiteLlm(upstream.url);

for (const path of paths) {
  await attempt(() => load.flood(path, false, { width: 8, ms: 1000 }), undefined);
  await attempt(() => load.flood(path, true, { width: 8, ms: 500 }), undefined);
}
const results = new Map(paths.map(({ name }) => [name, [] as Figures[]]));
for (let round = 0; round < ROUNDS; round += 1) {
  for (const path of paths) results.get(path.name)?.push(await measure(path));
}
const whole = (value: number) => (Number.isNaN(value) ? 'fails' : Math.round(value).toLocaleString('en'));
const time = (value: number) => (Number.isNaN(value) ? 'fails' : milliseconds(value));
console.log(
  `\n| ${ROUNDS} rounds | p50, one after the other | p99 | requests/s, 32 at once | processor time a request | chunks/s, 16 streams | processor time a stream | first chunk, p50 | resident |\n|---|---|---|---|---|---|---|---|---|`,
);
for (const { name, pid } of paths) {
  const rounds = results.get(name) ?? [];
  const figure = (key: keyof Figures) => median(rounds.map((each) => each[key]));
  const cells = [
    time(figure('p50')),
    time(figure('p99')),
    whole(figure('rate')),
    `${whole(figure('cpu'))} µs`,
    whole(figure('chunks')),
    `${whole(figure('streamCpu'))} µs`,
    time(figure('first')),
  ];
  console.log(`| ${name} | ${cells.join(' | ')} | ${Math.round(readResident(pid))} MiB |`);
}
for (const child of children) child.kill();
parts.close();
await load.close();
rmSync(folder, { recursive: true, force: true });
