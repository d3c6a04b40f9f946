/**
 * Measures sandboxes on a real node, one at a time: a pod with a new volume, suspension, resumption on the same
 * volume, a start with a standby pod, and the writes to the API server for each; then many at once. The control is the
 * same pod created by hand, and the peer is kubernetes-sigs/agent-sandbox; the arms alternate.
 * Needs: `make cluster` and `scripts/cluster/build-agent-sandbox.sh`.
 * Arguments: rounds (10), number of concurrent starts (50; 0: none).
 */
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { milliseconds, printMachine, quantile } from './support/figures.ts';
import { openArms } from './support/node-arms.ts';
import type { Arm } from './support/node-arms.ts';
import { startNodeCluster } from './support/node-cluster.ts';
import type { NodeCluster } from './support/node-cluster.ts';

const ROUNDS = Number(process.argv[2] ?? 10);
const BURST = Number(process.argv[3] ?? 50);
/** Time for writes of kubelet, scheduler and controllers after the sandbox is ready. */
const SETTLE_MS = 3000;

const figures = new Map<string, number[]>();
const note = (name: string, value: number): void => void figures.set(name, [...(figures.get(name) ?? []), value]);

/** Records the duration of the step and, after a while, its number of writes. */
async function runStep(cluster: NodeCluster, arm: Arm, step: string, run: () => Promise<number>): Promise<void> {
  await sleep(SETTLE_MS);
  const before = await cluster.countWrites();
  note(`${step}: ${arm.name}`, await run());
  await sleep(SETTLE_MS);
  note(`${step}: ${arm.name}, writes`, (await cluster.countWrites()) - before);
}

async function runArm(cluster: NodeCluster, arm: Arm): Promise<void> {
  await runStep(cluster, arm, 'start with a new volume', () => arm.start());
  await runStep(cluster, arm, 'suspend', () => arm.suspend());
  await runStep(cluster, arm, 'resume', () => arm.resume());
  await arm.remove();
  const { warm } = arm;
  if (warm === undefined) return;
  await warm.prepare();
  await runStep(cluster, arm, 'start with a pod that stands ready', () => warm.start());
  await arm.remove();
}

/** Starts all sandboxes of a kind at once, each with a new volume; one kind after another. */
async function runBursts(build: () => Arm[]): Promise<void> {
  const many = Array.from({ length: BURST }, build);
  for (const [kind, { name }] of build().entries()) {
    const arms = many.flatMap((each) => each[kind] ?? []);
    await sleep(SETTLE_MS);
    for (const ms of await Promise.all(arms.map((arm) => arm.start())))
      note(`${BURST} at once with new volumes: ${name}`, ms);
    await Promise.all(arms.map((arm) => arm.remove()));
  }
}

async function main(): Promise<void> {
  printMachine();
  console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)}`);
  const cluster = await startNodeCluster();
  if (cluster === undefined) {
    return console.log('Not measured, for want of it: make cluster, scripts/cluster/build-agent-sandbox.sh');
  }
  const peers = openArms(cluster);
  const arms = peers.build();
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      // Rotates the first arm, so that no arm always follows the same other.
      for (let place = 0; place < arms.length; place += 1) {
        const arm = arms[(round + place) % arms.length];
        if (arm !== undefined) await runArm(cluster, arm);
      }
    }
    if (BURST > 0) await runBursts(() => peers.build());
  } finally {
    await peers.close();
    await cluster.close();
  }
  for (const [name, values] of [...figures].sort(([left], [right]) => left.localeCompare(right))) {
    const unit = name.endsWith('writes') ? (value: number) => value.toFixed(0) : milliseconds;
    const [p50, p90, most] = [0.5, 0.9, 1].map((part) => unit(quantile(values, part)));
    console.log(`${name.padEnd(60)} n ${values.length}  p50 ${p50}  p90 ${p90}  most ${most}`);
  }
  console.log(`load of the machine: ${loadavg()[0]?.toFixed(1)}`);
}

// A signal also stops the processes that the bench started.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
await main();
