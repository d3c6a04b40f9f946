// Measures a tenant alone, then beside a hostile one: success rate and duration of its turns, and the server's memory,
// descriptors and disk. Floor: the same turns without the hostile tenant, in the same run.
// CAPSTAN_SOAK_MINUTES sets the minutes of each part (default 1).
// Needs: bubblewrap.
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeScratch } from '../test/support/scratch.ts';
import { median, printMachine, quantile } from './support/figures.ts';
import { listTree, readResident } from './support/processes.ts';
import { startBenchServer } from './support/server.ts';
import type { BenchServer } from './support/server.ts';

const MINUTES = Number(process.env['CAPSTAN_SOAK_MINUTES'] ?? 1);
const CLIENTS = 4;
/** Eight sandboxes per minute for each client. */
const PAUSE_MS = 7500;
const TURN_LIMIT_MS = 120_000;

/** Attacks of a command on its machine. Each ends on its own or at its limit. */
const BOMBS: readonly [name: string, command: string][] = [
  ['processes', 'bomb() { bomb | bomb & }; bomb; sleep 5'],
  ['memory', 'tail /dev/zero'],
  ['memory of many', 'for i in $(seq 20); do (head -c 200M /dev/zero | tail &) ; done; sleep 8'],
  ['the volume', 'head -c 100G /dev/zero > /workspace/full; rm -f /workspace/full'],
  [
    'files',
    'mkdir -p /workspace/many; cd /workspace/many; for i in $(seq 20000); do : > f$i; done; cd /; rm -rf /workspace/many',
  ],
  [
    'temporary space',
    'head -c 100G /dev/zero > /tmp/full; head -c 100G /dev/zero > /dev/shm/full; rm -f /tmp/full /dev/shm/full',
  ],
  ['output', 'timeout 10 yes'],
  ['one line', "head -c 300M /dev/zero | tr '\\0' x"],
  ['control characters', "head -c 5M /dev/zero | tr '\\0' '\\033'"],
  [
    'descriptors',
    'python3 -c "import os\nfiles=[]\ntry:\n  while True: files.append(os.open(\'/dev/null\',0))\nexcept OSError as e: print(len(files), e)"',
  ],
  ['deep folders', 'cd /workspace; for i in $(seq 2000); do mkdir d && cd d || break; done; cd /workspace; rm -rf d'],
  ['processor', 'for i in 1 2 3 4; do (timeout 8 sh -c "while :; do :; done" &) ; done; sleep 8'],
  ['everything of its own', 'kill -9 -1'],
];

type Turn = { ok: boolean; ms: number; why: string };
type Event = { type: string; sequence: number; payload: Record<string, unknown> };

async function createAgent(server: BenchServer, name: string): Promise<string> {
  const { id } = await server.call<{ id: string }>('POST', '/v1/agents', {
    name,
    modelName: 'script/demo',
    systemPrompt: '',
    skills: [],
    tools: [{ type: 'agent_toolset', defaultConfig: { enabled: true, permissionPolicy: { type: 'always_allow' } } }],
    rateLimits: { messagesPerMinute: 1000, conversationsPerMinute: 300 },
  });
  return id;
}

/** One session with one command in its own sandbox. */
async function runTurn(
  server: BenchServer,
  at: { agentId: string; subjectId: string },
  command: string,
): Promise<Turn> {
  const started = performance.now();
  const session = await server.call<{ id: string }>('POST', '/v1/sessions', at);
  const path = `/v1/sessions/${session.id}/events`;
  const content = [{ type: 'text', text: `run: ${command}` }];
  await server.call('POST', path, { events: [{ type: 'user.message', content }] });
  while (performance.now() - started < TURN_LIMIT_MS) {
    const { data } = await server.call<{ data: Event[] }>('GET', `${path}?limit=100`);
    const idle = data.find(({ type }) => type === 'session.status_idle');
    if (idle !== undefined) {
      const result = data.find(({ type }) => type === 'agent.tool_result');
      const ok = result !== undefined && result.payload['is_error'] !== true;
      return {
        ok,
        ms: performance.now() - started,
        why: JSON.stringify(result?.payload ?? idle.payload).slice(0, 300),
      };
    }
    await sleep(50);
  }
  return { ok: false, ms: performance.now() - started, why: 'no end within two minutes' };
}

/** Turns of the good tenant for some minutes. */
async function work(server: BenchServer, agentId: string, minutes: number): Promise<Turn[]> {
  const turns: Turn[] = [];
  const end = performance.now() + minutes * 60_000;
  const live = async (client: number) => {
    await sleep((client * PAUSE_MS) / CLIENTS);
    for (let round = 0; performance.now() < end; round += 1) {
      const next = sleep(PAUSE_MS);
      const at = { agentId, subjectId: `client-${client}` };
      turns.push(
        await runTurn(server, at, `echo ${round} >> log && wc -l log`).catch((error: unknown) => ({
          ok: false,
          ms: 0,
          why: String(error).slice(0, 300),
        })),
      );
      await next;
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, client) => live(client)));
  return turns;
}

async function attack(server: BenchServer, agentId: string, over: AbortSignal): Promise<number> {
  let bombs = 0;
  while (!over.aborted) {
    const [name, command] = BOMBS[bombs % BOMBS.length] ?? ['', ''];
    const turn = await runTurn(server, { agentId, subjectId: 'hostile' }, command).catch(() => undefined);
    console.log(`  ${name}: ${turn === undefined ? 'no answer' : `${(turn.ms / 1000).toFixed(1)} s`}`);
    bombs += 1;
  }
  return bombs;
}

function describeServer(server: BenchServer, dataDir: string): string {
  const descriptors = readdirSync(`/proc/${server.pid}/fd`).length;
  const disk = Number(execFileSync('du', ['-sm', dataDir], { encoding: 'utf8' }).split('\t')[0]);
  return (
    `server ${Math.round(readResident(server.pid))} MiB with ${listTree(server.pid).length} processes, ` +
    `${descriptors} descriptors, ${disk} MiB on disk`
  );
}

function printTurns(name: string, turns: readonly Turn[]): void {
  const failed = turns.filter(({ ok }) => !ok);
  const times = turns.filter(({ ok }) => ok).map(({ ms }) => ms);
  console.log(
    `${name}: ${turns.length} turns, ${failed.length} failed, p50 ${median(times).toFixed(0)} ms, ` +
      `p99 ${quantile(times, 0.99).toFixed(0)} ms`,
  );
  for (const { why } of failed.slice(0, 5)) console.log(`  failed: ${why}`);
}

printMachine();
const dataDir = makeScratch('soak');
const server = await startBenchServer({}, dataDir);
const [good, hostile] = await Promise.all([createAgent(server, 'good'), createAgent(server, 'hostile')]);
console.log(`at start: ${describeServer(server, dataDir)}`);
printTurns('alone', await work(server, good, MINUTES));
console.log(`then: ${describeServer(server, dataDir)}`);
const over = new AbortController();
const attacking = attack(server, hostile, over.signal);
const beside = await work(server, good, MINUTES);
over.abort();
const bombs = await attacking;
printTurns(`beside ${bombs} bombs`, beside);
await sleep(90_000);
console.log(`90 s later: ${describeServer(server, dataDir)}`);
await server.close();
rmSync(dataDir, { recursive: true, force: true });
