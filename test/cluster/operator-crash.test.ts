import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Operator } from '../../operator/start.ts';
import { buildChurn } from '../support/cluster/churn.ts';
import { findCluster, waitFor } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { startNode } from '../support/cluster/kubelet.ts';
import type { Node } from '../support/cluster/kubelet.ts';
import { buildRandom } from '../../src/platform/random.ts';
import { buildMortal } from '../support/cluster/mortal.ts';
import type { Mortal } from '../support/cluster/mortal.ts';
import { buildAccess, openOperator } from '../support/cluster/operator.ts';

const found = await findCluster();
const TRIALS = 200;
const SEED = 20_260_101;

describe.skipIf(found === undefined)('an operator that is killed', () => {
  let cluster: Cluster;
  let node: Node;
  let api: ReturnType<typeof buildAccess>;
  let running: { mortal: Mortal; operator: Operator } | undefined;

  beforeAll(() => {
    cluster = found as Cluster;
    node = startNode(cluster.kubernetes, cluster.namespace);
    api = buildAccess(cluster);
  });
  afterAll(async () => {
    await running?.operator.close();
    await node?.close();
    await cluster?.kubernetes.close();
  });

  /** A new process: the previous one leaves nothing but its lease, which would expire. */
  const start = async (death: { atWrite: number; before: boolean }): Promise<void> => {
    running?.mortal.kill();
    await running?.operator.close();
    await api.remove('leases', 'capstan-operator').catch(() => undefined);
    const mortal = buildMortal(cluster.kubernetes, death);
    running = { mortal, operator: await openOperator(cluster, {}, mortal.kubernetes) };
  };

  test(
    `at any write, before or after it: never two pods for a session, and all is well after its next start (${TRIALS} trials, seed ${SEED})`,
    async () => {
      const random = buildRandom(SEED);
      const { addVolume, change, isSettled } = buildChurn(cluster, node, random);
      let deaths = 0;
      const begunMs = Date.now();
      for (let trial = 0; trial < TRIALS; trial += 1) {
        await start({ atWrite: 1 + Math.floor(random() * 8), before: random() < 0.5 });
        if (trial % 20 === 0) await addVolume({ standby: trial % 40 === 0 });
        const changes = 1 + Math.floor(random() * 3);
        for (let number = 0; number < changes; number += 1) await change();
        await waitFor(
          `trial ${trial}: settled or killed`,
          async () => running?.mortal.isDead() === true || isSettled(),
        );
        if (running?.mortal.isDead() === true) deaths += 1;
        await start({ atWrite: Infinity, before: false });
        await waitFor(`trial ${trial}: settled after the next start`, isSettled);
        expect(node.violations, `trial ${trial}`).toEqual([]);
      }
      process.stderr.write(
        `${deaths} of ${TRIALS} operators were killed, in ${Math.round((Date.now() - begunMs) / 1000)} s\n`,
      );
      // Without any death the trials would prove nothing.
      expect(deaths).toBeGreaterThan(0);
    },
    30 * 60_000,
  );
});
