import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Operator } from '../../operator/start.ts';
import { buildChurn } from '../support/cluster/churn.ts';
import { findCluster, waitFor } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { startFaultProxy } from '../support/cluster/faults.ts';
import type { FaultProxy } from '../support/cluster/faults.ts';
import { startNode } from '../support/cluster/kubelet.ts';
import type { Node } from '../support/cluster/kubelet.ts';
import { buildRandom } from '../../src/platform/random.ts';
import { openOperator } from '../support/cluster/operator.ts';

const found = await findCluster();
const SEED = 20_261_121;
const ROUNDS = 25;
const KINDS = ['throttled', 'broken', 'unsent', 'unanswered', 'watchCut', 'watchExpired'] as const;
/** short, so that leaders change within the test */
const LEASE = { durationMs: 4000, deadlineMs: 2500, retryMs: 100 };

describe.skipIf(found === undefined)('operators whose API server does not behave', () => {
  let cluster: Cluster;
  let node: Node;
  let sides: { proxy: FaultProxy; operator: Operator }[];
  let churn: ReturnType<typeof buildChurn>;
  const random = buildRandom(SEED);

  beforeAll(async () => {
    cluster = found as Cluster;
    node = startNode(cluster.kubernetes, cluster.namespace);
    churn = buildChurn(cluster, node, random);
    sides = [];
    for (let number = 0; number < 2; number += 1) {
      const proxy = await startFaultProxy(cluster.kubeconfig, random);
      sides.push({ proxy, operator: await openOperator(cluster, { lease: LEASE }, proxy.kubernetes) });
    }
    for (const standby of [true, false, true]) await churn.addVolume({ standby });
  });
  afterAll(async () => {
    for (const { proxy } of sides ?? []) proxy.restore();
    await Promise.all((sides ?? []).map(({ operator }) => operator.close()));
    await Promise.all((sides ?? []).map(({ proxy }) => proxy.close()));
    await node?.close();
    await cluster?.kubernetes.close();
  });

  const run = async (what: string, changes: number): Promise<void> => {
    for (let number = 0; number < changes; number += 1) await churn.change();
    await waitFor(`${what}: settled`, churn.isSettled);
    if (node.violations.length > 0) throw new Error(`${what}: ${node.violations.join('; ')}`);
  };
  const leader = () => sides.find(({ operator }) => operator.isLeading());

  test(`429, 500, lost requests, lost answers, watches that are cut and too old: all settles, and no session has two pods (seed ${SEED})`, async () => {
    for (const { proxy } of sides) proxy.disturb(0.15);
    const count = (kind: (typeof KINDS)[number]) => sides.reduce((sum, { proxy }) => sum + proxy.counts[kind], 0);
    // Without any fault the test would prove nothing; how often a watch begins depends on the machine.
    const isEnough = () => KINDS.every((kind) => count(kind) > 2);
    for (let round = 0; round < ROUNDS || !isEnough(); round += 1) {
      await run(`round ${round}`, 1 + Math.floor(random() * 3));
    }
    for (const { proxy } of sides) proxy.disturb(0);
    await run('in quiet again', 2);
    expect(node.violations).toEqual([]);
  }, 300_000);

  test('while the API server restarts nothing is lost, and all goes on when it is back', async () => {
    for (const { proxy } of sides) proxy.cut();
    for (let number = 0; number < 4; number += 1) await churn.change();
    // Longer than a term: every earlier leader has stopped.
    await waitFor('nobody leads', () => leader() === undefined);
    for (const { proxy } of sides) proxy.restore();
    await run('after the restart', 2);
    await waitFor('a leader', leader);
    for (const { proxy } of sides) expect(proxy.counts.refused).toBeGreaterThan(0);
  });

  test('a leader that is cut off is followed by another, and does no harm when it comes back', async () => {
    for (let round = 0; round < 3; round += 1) {
      const first = await waitFor('a leader', leader);
      first.proxy.cut();
      await waitFor('another leader', () => leader() !== undefined && leader() !== first);
      await run(`round ${round}, without the first`, 2);
      first.proxy.restore();
      await sleep(LEASE.retryMs * 2);
      await run(`round ${round}, with the first back`, 2);
      expect(sides.filter(({ operator }) => operator.isLeading()).length).toBeLessThan(2);
    }
  }, 300_000);
});
