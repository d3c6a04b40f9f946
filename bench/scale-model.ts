// What 1,000 to 100,000 live sessions ask of each part. People and models are simulated; what a session costs is taken from
// measurements in bench/RESULTS.md, and everything else that is assumed stands in `ASSUMED`. Equal arguments print equal figures.
// Needs: nothing. `node bench/scale-model.ts 50000 PAUSE=60 STREAMS=0.2` changes the number of sessions and assumptions.
import { buildRandom } from '../src/platform/random.ts';
import type { Random } from '../src/platform/random.ts';

/** Seconds, unless the name says otherwise. */
const ASSUMED = {
  /** between the end of a turn and the next prompt: half are shorter, a tenth longer than about ten times this */
  PAUSE: 90,
  /** model calls of a turn, each but the last followed by a tool call */
  CALLS: 4,
  MODEL: 8,
  TOOL: 3,
  /** frames of text in a second of a model call; they go through NATS and are not stored */
  FRAMES: 30,
  /** stored events of a turn beside two for each tool call */
  EVENTS: 4,
  /** size of a stored event with its indexes, KiB */
  EVENT_KIB: 2,
  /** share of the live sessions that somebody watches by an open stream */
  STREAMS: 1,
  /** after this a pod is removed: sandbox.idleTimeout */
  IDLE: 900,
  /** requests of a sandbox pod that fit on a node: 8 CPU, 32 GiB, see docs/operations.md */
  PODS_PER_NODE: 75,
  /** objects of a live session in etcd: Session, Volume, pod, claim, disk, KiB */
  ETCD_KIB: 14,
};

/** From bench/RESULTS.md, on two cores each. */
const MEASURED = {
  /** PostgreSQL + NATS + Redis, load included: two cores for 354 turns of one model call */
  turnCpuSeconds: 2 / 354,
  /** fenced appends a second */
  appends: 30_229,
  /** resident, MiB for each open stream */
  streamMiB: 428 / 10_000,
  /** operator: resident MiB without sessions, and for each */
  operatorMiB: 86,
  operatorSessionMiB: (210 - 86) / 10_000,
  /** writes to the API server for a pod start, by all */
  startWrites: 5.4,
  /** processor time of kube-apiserver for a write */
  writeCpuSeconds: 0.004,
  /** sessions of one operator that were seen to converge, restart and stay quiet */
  operatorSessions: 10_000,
};
/** CAPSTAN_WORKER_CONCURRENCY */
const WORKER_TURNS = 64;
/** sessions in use are written down once in this time */
const TOUCH_SECONDS = 60;
const SAMPLE = 5000;
const HORIZON_SECONDS = 3600;
/** Before this the simulated sessions are not yet spread evenly over their turns and pauses. */
const WARM_UP_SECONDS = 1800;

type Assumed = typeof ASSUMED;
type Counts = {
  turnSeconds: number;
  modelSeconds: number;
  turns: number;
  toolCalls: number;
  touches: number;
  starts: number;
};

/** Log-normal with this median; a tenth is above `median * exp(1.28 * spread)`. */
function drawSpread(random: Random, median: number, spread: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return median * Math.exp(spread * normal);
}

/** One session for the warm-up and an hour: turns, and pauses in which its pod may go. Counts the hour. */
function simulateSession(random: Random, assumed: Assumed, counts: Counts): void {
  const end = WARM_UP_SECONDS + HORIZON_SECONDS;
  const within = (from: number, to: number) => Math.max(0, Math.min(to, end) - Math.max(from, WARM_UP_SECONDS));
  let touchedAt = -Infinity;
  let now = random() * assumed.PAUSE * 2;
  while (now < end) {
    const isCounted = now >= WARM_UP_SECONDS;
    if (now - touchedAt > assumed.IDLE && isCounted) counts.starts += 1;
    const startedAt = now;
    const calls = 1 + Math.floor(-Math.log(1 - random()) * (assumed.CALLS - 1) + 0.5);
    for (let call = 1; call <= calls; call += 1) {
      if (now - touchedAt >= TOUCH_SECONDS) {
        touchedAt = now;
        if (isCounted) counts.touches += 1;
      }
      const modelEnd = now + drawSpread(random, assumed.MODEL, 0.6);
      counts.modelSeconds += within(now, modelEnd);
      now = modelEnd;
      if (call === calls) continue;
      now += drawSpread(random, assumed.TOOL, 1.2);
      if (isCounted) counts.toolCalls += 1;
    }
    counts.turnSeconds += within(startedAt, now);
    if (isCounted) counts.turns += 1;
    now += drawSpread(random, assumed.PAUSE, 1.8);
  }
}

/** Rates a second, and means at any moment, of one session. */
function simulate(assumed: Assumed): Counts {
  const counts: Counts = { turnSeconds: 0, modelSeconds: 0, turns: 0, toolCalls: 0, touches: 0, starts: 0 };
  const random = buildRandom(1);
  for (let session = 0; session < SAMPLE; session += 1) simulateSession(random, assumed, counts);
  const share = SAMPLE * HORIZON_SECONDS;
  return {
    turnSeconds: counts.turnSeconds / share,
    modelSeconds: counts.modelSeconds / share,
    turns: counts.turns / share,
    toolCalls: counts.toolCalls / share,
    touches: counts.touches / share,
    starts: counts.starts / share,
  };
}

/** Sessions act independently, so a peak lies three deviations of a Poisson count above the mean. */
const peak = (mean: number): number => mean + 3 * Math.sqrt(mean);
const round = (value: number): string =>
  (value >= 100 ? Math.round(value) : Number(value.toPrecision(2))).toLocaleString('en');
const atLeastOne = (value: number): number => Math.max(1, Math.ceil(value));

type Row = [what: string, value: (sessions: number) => string];

function buildRows(rates: Counts, assumed: Assumed): Row[] {
  const events = (sessions: number) => sessions * (rates.turns * assumed.EVENTS + rates.toolCalls * 2);
  const calls = (sessions: number) => sessions * (rates.turns + rates.toolCalls);
  const frames = (sessions: number) => sessions * rates.modelSeconds * assumed.FRAMES;
  const writes = (sessions: number) => sessions * (rates.starts * MEASURED.startWrites + rates.touches);
  const gib = (kib: number) => round(kib / 1024 ** 2);
  const shards = (sessions: number) => atLeastOne(sessions / MEASURED.operatorSessions);
  return [
    ['turns that start a second', (n) => round(n * rates.turns)],
    ['turns under way, mean and peak', (n) => `${round(n * rates.turnSeconds)}, ${round(peak(n * rates.turnSeconds))}`],
    ['workers at 64 turns each, at the peak', (n) => round(atLeastOne(peak(n * rates.turnSeconds) / WORKER_TURNS))],
    ['cores of api, worker and backends for the turns', (n) => round(calls(n) * MEASURED.turnCpuSeconds)],
    ['memory of api for open streams, GiB', (n) => round((n * assumed.STREAMS * MEASURED.streamMiB) / 1024)],
    ['PostgreSQL: events a second', (n) => round(events(n))],
    ['… share of the measured appends', (n) => `${round((100 * events(n)) / MEASURED.appends)} %`],
    ['… events a month, GiB', (n) => gib(events(n) * assumed.EVENT_KIB * 86_400 * 30)],
    ['NATS: frames a second', (n) => round(frames(n))],
    ['sandbox pods: starts a second', (n) => round(n * rates.starts)],
    ['API server: writes a second', (n) => round(writes(n))],
    ['… cores for them', (n) => round(writes(n) * MEASURED.writeCpuSeconds)],
    ['etcd, GiB', (n) => gib(n * assumed.ETCD_KIB)],
    ['nodes of 8 CPU and 32 GiB for sandboxes', (n) => round(atLeastOne(n / assumed.PODS_PER_NODE))],
    ['shards of 10,000 sessions (operator and namespace)', (n) => round(shards(n))],
    [
      '… memory of the operator in each, MiB',
      (n) => round(MEASURED.operatorMiB + (n / shards(n)) * MEASURED.operatorSessionMiB),
    ],
  ];
}

function readArguments(): { sizes: number[]; assumed: Assumed } {
  const assumed = { ...ASSUMED };
  const sizes: number[] = [];
  for (const argument of process.argv.slice(2)) {
    const [name = '', text = ''] = argument.split('=');
    const value = Number(text === '' ? name : text);
    if (!Number.isFinite(value) || value <= 0) throw new Error(`${argument}: must be a number above 0, or NAME=number`);
    if (text === '') sizes.push(value);
    else if (name in assumed) Object.assign(assumed, { [name]: value });
    else throw new Error(`${name}: not one of ${Object.keys(ASSUMED).join(', ')}`);
  }
  return { sizes: sizes.length === 0 ? [1000, 10_000, 30_000, 100_000] : sizes, assumed };
}

const { sizes, assumed } = readArguments();
console.log(`| live sessions | ${sizes.map(round).join(' | ')} |`);
console.log(`|---|${sizes.map(() => '---|').join('')}`);
for (const [what, value] of buildRows(simulate(assumed), assumed)) {
  console.log(`| ${what} | ${sizes.map(value).join(' | ')} |`);
}
