// Measures an idle server: memory once it is ready, and processor time without requests; then a list of 1,000
// sessions, page by page. Embedded in one process, and each role in its own process on servers.
// Needs: nothing; PostgreSQL, NATS, Redis and versitygw (make services) add the roles.
// SECONDS=60 is the duration of the idle phase; 0 measures memory alone. PARTS=roles leaves out the embedded server.
import { setTimeout as sleep } from 'node:timers/promises';

import { makeScratch } from '../test/support/scratch.ts';
import { S3_CREDENTIALS, startS3 } from '../test/support/services/s3.ts';
import { median, milliseconds, printMachine } from './support/figures.ts';
import { readCpu, readPeak, readResident } from './support/processes.ts';
import { startBenchServer, startRole } from './support/server.ts';
import { startStacks } from './support/stacks.ts';

const SECONDS = Number(process.env['SECONDS'] ?? 60);
const SESSIONS = 1000;
const PAGE = 100;
const ROUNDS = 15;
/** Time for start-up work that continues after the server listens. */
const SETTLE_MS = 15_000;

async function measureIdle(name: string, pid: number): Promise<void> {
  const resident = readResident(pid);
  const peak = readPeak(pid);
  if (SECONDS === 0) {
    return console.log(`${name}: ${resident.toFixed(0)} MiB once it listens, at most ${peak.toFixed(0)} until then`);
  }
  await sleep(SETTLE_MS);
  const before = readCpu(pid);
  await sleep(SECONDS * 1000);
  const share = (readCpu(pid) - before) / (SECONDS * 10);
  console.log(
    `${name}: ${resident.toFixed(0)} MiB once it listens, at most ${peak.toFixed(0)} until then, ` +
      `idle ${share.toFixed(2)} % of a core over ${SECONDS} s`,
  );
}

async function measureLists(): Promise<void> {
  const server = await startBenchServer();
  await measureIdle('all, embedded', server.pid);
  for (let made = 0; made < SESSIONS;) {
    const agent = await server.call<{ id: string }>('POST', '/v1/agents', {
      name: 'bench',
      modelName: 'script/demo',
      systemPrompt: '',
      skills: [],
      tools: [],
      rateLimits: { messagesPerMinute: 1000, conversationsPerMinute: 300 },
    });
    for (let each = 0; each < 250; each += 1, made += 1) {
      await server.call('POST', '/v1/sessions', { agentId: agent.id, subjectId: 'bench', title: `Session ${made}` });
    }
  }
  const walls: number[] = [];
  const before = readCpu(server.pid);
  for (let round = 0; round < ROUNDS; round += 1) {
    const started = performance.now();
    for (let offset = 0; offset < SESSIONS; offset += PAGE) {
      await server.call('GET', `/v1/sessions?limit=${PAGE}&offset=${offset}`);
    }
    walls.push(performance.now() - started);
  }
  const cpu = (readCpu(server.pid) - before) / ROUNDS;
  console.log(
    `${SESSIONS} sessions in pages of ${PAGE}: p50 ${milliseconds(median(walls))}, best ` +
      `${milliseconds(Math.min(...walls))}, ${milliseconds(cpu)} of a processor`,
  );
  await server.close();
}

function objectsOf(url: string): Record<string, string> {
  return {
    CAPSTAN_OBJECTS: url,
    AWS_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
  };
}

/** Each role once it listens, by itself. */
async function measureRoles(shared: Record<string, string>): Promise<void> {
  for (const role of ['api', 'worker', 'gateway', 'video', 'login']) {
    const { child } = await startRole(role, {
      ...shared,
      CAPSTAN_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      CAPSTAN_DATA_DIR: makeScratch(`bench-${role}`),
      CAPSTAN_API_KEY: 'cap_bench_key_0123456789',
    });
    await measureIdle(`role ${role}`, child.pid!);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }
}

printMachine();
if (process.env['PARTS'] !== 'roles') await measureLists();
const s3 = await startS3();
if (s3 === undefined)
  console.log('versitygw is not installed (make services): roles in processes of their own are left out');
for (const stack of s3 === undefined ? [] : await startStacks()) {
  if (s3 !== undefined && stack.env['DATABASE_URL'] !== undefined)
    await measureRoles({ ...stack.env, ...objectsOf(s3.url) });
  await stack.close();
}
await s3?.stop();
