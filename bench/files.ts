// Compares the files API with nginx on the same machine, in the same run: 1 KiB and 40 MiB, up (WebDAV PUT) and down
// (static). Floor for a server in Node: files-server.ts, which is bare node:http without keys, sandboxes, checksums or
// a contract.
// Needs: nothing; the peer is nginx with its dav module (apt-get install nginx-light) and is skipped if it is missing.
import { once } from 'node:events';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeScratch } from '../test/support/scratch.ts';
import { median, printMachine } from './support/figures.ts';
import { startBenchServer } from './support/server.ts';
import { findProgram } from '../test/support/services/process.ts';

const KIB = Buffer.alloc(1024, 'x');
const BIG = Buffer.alloc(41_943_040, 'x');
const PARALLEL = 8;
const ROUNDS = 3;
const agent = new Agent({ keepAlive: true, maxSockets: PARALLEL });

type Target = { up: (name: string) => URL; down: (name: string) => URL; headers: Record<string, string> };

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function startNginx(): Promise<{ url: string; close(): void } | undefined> {
  const program = findProgram('nginx');
  if (program === undefined) {
    console.log('Without nginx: apt-get install nginx-light installs it.');
    return undefined;
  }
  const folder = makeScratch('bench-nginx');
  const port = await findPort();
  mkdirSync(`${folder}/files`, { mode: 0o777 });
  execFileSync('chmod', ['755', folder]);
  writeFileSync(
    `${folder}/nginx.conf`,
    `daemon off; user root; worker_processes 2; pid ${folder}/pid; error_log stderr crit;
     events { worker_connections 512; }
     http { access_log off; sendfile on; keepalive_requests 1000000; client_max_body_size 100m;
       client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/p; fastcgi_temp_path ${folder}/f;
       uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
       server { listen 127.0.0.1:${port}; root ${folder}; location / { dav_methods PUT DELETE; create_full_put_path on; } } }`,
  );
  const child = spawn(program, ['-c', `${folder}/nginx.conf`, '-p', folder], { stdio: 'inherit' });
  const ready = () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
  while (child.exitCode === null && !(await ready())) await sleep(20);
  if (child.exitCode !== null) {
    console.log('Without nginx: it does not start with its dav module (apt-get install nginx-light).');
    return undefined;
  }
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      child.kill('SIGTERM');
      child.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    },
  };
}

async function startFloor(): Promise<{ url: string; close(): void }> {
  const folder = makeScratch('bench-floor');
  const child = spawn(process.execPath, ['bench/files-server.ts', folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    url: `http://127.0.0.1:${line.toString().trim()}`,
    close() {
      child.kill('SIGTERM');
      child.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    },
  };
}

function exchange(method: string, url: URL, headers: Record<string, string>, body?: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(body.length) };
    const sending = request(url, { method, agent, headers: { ...headers, ...length } }, (response) => {
      let size = 0;
      response.on('data', (chunk: Buffer) => (size += chunk.length));
      response.on('end', () => {
        if ((response.statusCode ?? 0) < 300) resolve(size);
        else reject(new Error(`${method} ${url.pathname}: ${response.statusCode}`));
      });
      response.on('error', reject);
    });
    sending.on('error', reject);
    sending.end(body);
  });
}

/** Exchanges per second with eight connections, after a warm-up with a quarter as many exchanges. */
async function measure(count: number, act: (index: number) => Promise<number>): Promise<number> {
  for (let index = 0; index < count / 4; index += 1) await act(index);
  const begun = performance.now();
  let next = 0;
  const work = async () => {
    for (let index = next++; index < count; index = next++) await act(index);
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return count / ((performance.now() - begun) / 1000);
}

async function run({ up, down, headers }: Target): Promise<Record<string, number>> {
  const octets = { ...headers, 'content-type': 'application/octet-stream' };
  const accept = { ...headers, accept: 'application/octet-stream' };
  return {
    '1 KiB up': await measure(2000, (index) => exchange('PUT', up(`small-${index % 100}`), octets, KIB)),
    '1 KiB down': await measure(4000, (index) => exchange('GET', down(`small-${index % 100}`), accept)),
    '40 MiB up': await measure(16, (index) => exchange('PUT', up(`big-${index % 8}`), octets, BIG)),
    '40 MiB down': await measure(24, (index) => exchange('GET', down(`big-${index % 8}`), accept)),
  };
}

printMachine();
const [nginx, floor] = [await startNginx(), await startFloor()];
const server = await startBenchServer();
const { id } = await server.call<{ id: string }>('POST', '/v1/agents', {
  name: 'bench',
  modelName: 'script/demo',
  systemPrompt: 'x',
  skills: [],
  tools: [],
});
const own = (name: string) =>
  new URL(`${server.url}/v1/agents/${id}/users/bench/files/content?overwrite=true&path=${name}`);
const peer = (url: string): Target => {
  const at = (name: string) => new URL(`${url}/files/${name}`);
  return { up: at, down: at, headers: {} };
};
const targets: Record<string, Target> = {
  ...(nginx === undefined ? {} : { nginx: peer(nginx.url) }),
  'bare node:http': peer(floor.url),
  Capstan: { up: own, down: own, headers: { 'x-api-key': server.key } },
};
const rounds: Record<string, Record<string, number>>[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const rates: Record<string, Record<string, number>> = {};
  for (const [name, target] of Object.entries(targets)) rates[name] = await run(target);
  rounds.push(rates);
}
const reference = nginx === undefined ? 'bare node:http' : 'nginx';
console.log(
  `Medians of ${ROUNDS} rounds, exchanges a second; the ratio is Capstan's to that of ${reference} in the same round.`,
);
console.log(
  `| | ${Object.keys(targets).join(' | ')} | ratio |\n|---|${'---|'.repeat(Object.keys(targets).length + 1)}`,
);
for (const exchanged of Object.keys(rounds[0]?.['Capstan'] ?? {})) {
  const rates = Object.keys(targets).map((name) => median(rounds.map((round) => round[name]![exchanged]!)).toFixed(1));
  const ratio = median(rounds.map((round) => round['Capstan']![exchanged]! / round[reference]![exchanged]!));
  console.log(`| ${exchanged} | ${rates.join(' | ')} | ${ratio.toFixed(2)} |`);
}
console.log(`server: ${(await server.readMemory()).toFixed(0)} MiB resident`);
agent.destroy();
await server.close();
nginx?.close();
floor.close();
