import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Operator } from '../../operator/start.ts';
import { LABELS } from '../../src/contract/resources/common.ts';
import type { Session } from '../../src/contract/resources/session.ts';
import { buildListPath } from '../../src/kubernetes/paths.ts';
import type { Pod } from '../../src/kubernetes/types.ts';
import { buildSession, buildVolume, findCluster, waitFor } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { startNode } from '../support/cluster/kubelet.ts';
import type { Node } from '../support/cluster/kubelet.ts';
import { buildMortal, buildRandom } from '../support/cluster/mortal.ts';
import type { Mortal } from '../support/cluster/mortal.ts';
import { buildAccess, openOperator } from '../support/cluster/operator.ts';

const found = await findCluster();
const TRIALS = 200;
/** sessions at once */
const MOST = 12;
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

  const list = async <T>(plural: 'sessions' | 'pods'): Promise<T[]> =>
    (
      await cluster.kubernetes.request<{ items: T[] }>({
        method: 'GET',
        path: buildListPath(cluster.namespace, plural),
      })
    ).items;

  /** Another process: nothing of the one before is left but its lease, which would run out. */
  const start = async (death: { atWrite: number; before: boolean }): Promise<void> => {
    running?.mortal.kill();
    await running?.operator.close();
    await api.remove('leases', 'capstan-operator').catch(() => undefined);
    const mortal = buildMortal(cluster.kubernetes, death);
    running = { mortal, operator: await openOperator(cluster, {}, mortal.kubernetes) };
  };

  /** Every session has what its spec asks for, every pod a session or a volume that wants it. */
  const isSettled = async (): Promise<boolean> => {
    const [sessions, pods] = await Promise.all([list<Session>('sessions'), list<Pod>('pods')]);
    const owned = Map.groupBy(pods, ({ metadata }) => metadata.labels?.[LABELS.sessionUid]);
    const known = new Set<string | undefined>(sessions.map(({ metadata }) => metadata.uid));
    const isOrphan = [...owned.keys()].some((uid) => uid !== undefined && !known.has(uid));
    return (
      !isOrphan &&
      sessions.every(({ metadata, spec, status }) => {
        const own = owned.get(metadata.uid) ?? [];
        if (spec.desiredState !== 'Running') return status?.phase === 'Suspended' && own.length === 0;
        return status?.phase === 'Running' && own.length === 1 && own[0]?.metadata.uid === status.podUid;
      })
    );
  };

  test(
    `at any write, before or after it: never two pods for a session, and all is well after its next start (${TRIALS} trials, seed ${SEED})`,
    async () => {
      const random = buildRandom(SEED);
      const pick = <T>(items: T[]): T | undefined => items[Math.floor(random() * items.length)];
      const volumes: string[] = [];
      let deaths = 0;
      const begunMs = Date.now();
      for (let trial = 0; trial < TRIALS; trial += 1) {
        await start({ atWrite: 1 + Math.floor(random() * 8), before: random() < 0.5 });
        if (trial % 20 === 0) {
          const standbyUntil = new Date(Date.now() + 3_600_000).toISOString();
          const spec = trial % 40 === 0 ? { standbyUntil } : {};
          volumes.push((await cluster.create(buildVolume(cluster.namespace, spec))).metadata.name);
        }
        const changes = 1 + Math.floor(random() * 3);
        for (let change = 0; change < changes; change += 1) {
          const sessions = await list<Session>('sessions');
          const session = pick(sessions.sort((a, b) => a.metadata.name.localeCompare(b.metadata.name)));
          const dice = random();
          if (session === undefined || (dice < 0.35 && sessions.length < MOST)) {
            await cluster.create(buildSession(cluster.namespace, { volumeName: pick(volumes) ?? '' }));
          } else if (dice < 0.5) {
            await api.remove('sessions', session.metadata.name);
          } else if (dice < 0.6) {
            await api.remove('sessions', session.metadata.name);
            await cluster.create(buildSession(cluster.namespace, session.spec));
          } else if (dice < 0.9) {
            const desiredState = session.spec.desiredState === 'Running' ? 'Suspended' : 'Running';
            await api.patch('sessions', session.metadata.name, { spec: { desiredState } });
          } else if (session.status?.podName !== undefined) {
            const evicted = { phase: 'Failed', reason: 'Evicted', message: 'by the test' };
            await node.report(session.status.podName, evicted).catch(() => undefined);
          }
        }
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
      // The trials would show nothing if nobody died.
      expect(deaths).toBeGreaterThan(TRIALS / 3);
    },
    30 * 60_000,
  );
});
