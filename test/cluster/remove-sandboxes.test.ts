import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { removeSandboxes } from '../../operator/remove-sandboxes.ts';
import { buildListPath, buildPath } from '../../src/platform/kubernetes/paths.ts';
import type { Plural } from '../../src/platform/kubernetes/paths.ts';
import { openLog } from '../../src/platform/log.ts';
import { buildSession, buildVolume, findCluster, waitFor } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { startNode } from '../support/cluster/kubelet.ts';
import type { Node } from '../support/cluster/kubelet.ts';
import { buildAccess, openOperator } from '../support/cluster/operator.ts';

const found = await findCluster();
const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const log = openLog({ level: 'silent', pretty: false });

describe.skipIf(found === undefined)('the removal of sandboxes before an uninstall', () => {
  let cluster: Cluster;
  let node: Node;
  let api: ReturnType<typeof buildAccess>;
  beforeAll(() => {
    cluster = found as Cluster;
    node = startNode(cluster.kubernetes, cluster.namespace);
    api = buildAccess(cluster);
  });
  afterAll(async () => {
    await node?.close();
    await cluster?.kubernetes.close();
  });

  const count = async (plural: Plural): Promise<number> => {
    const path = buildListPath(cluster.namespace, plural);
    return (await cluster.kubernetes.request<{ items: unknown[] }>({ method: 'GET', path })).items.length;
  };
  const makeDeployment = (name: string) => {
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'api', image: 'x' }] } };
    const spec = { replicas: 2, selector: { matchLabels: labels }, template };
    const body = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec };
    return cluster.kubernetes.request({ method: 'POST', path: buildListPath(cluster.namespace, 'deployments'), body });
  };
  /** a running session, a suspended one, and a standby; the operator is stopped afterwards if it is not needed */
  const fill = async (keepOperator: boolean) => {
    const operator = await openOperator(cluster);
    const [used, warm] = [
      buildVolume(cluster.namespace),
      buildVolume(cluster.namespace, { standbyUntil: new Date(Date.now() + 3_600_000).toISOString() }),
    ];
    for (const volume of [used, warm]) await cluster.create(volume);
    const volumeName = used.metadata.name;
    await cluster.create(buildSession(cluster.namespace, { volumeName, desiredState: 'Suspended' }));
    const running = await cluster.create(buildSession(cluster.namespace, { volumeName }));
    await api.untilPhase(running.metadata.name, 'Running');
    await waitFor('a standby', () => node.pods.get(`${warm.metadata.name}-standby-0`)?.status?.podIP);
    if (!keepOperator) await operator.close();
    return operator;
  };

  test('leaves no session and no pod, but the volumes with their claims, also where no operator runs', async () => {
    await fill(false);
    await makeDeployment('callers');
    const callers = { namespace: cluster.namespace, deployments: ['callers', 'not-there'] };
    await removeSandboxes(
      { kubernetes: cluster.kubernetes, log },
      {
        namespace: cluster.namespace,
        callers,
        timeoutMs: 60_000,
      },
    );
    expect([await count('sessions'), await count('pods')]).toEqual([0, 0]);
    expect([await count('volumes'), await count('persistentvolumeclaims')]).toEqual([2, 2]);
    const path = buildPath(cluster.namespace, 'deployments', 'callers');
    const { spec } = await cluster.kubernetes.request<{ spec: { replicas: number } }>({ method: 'GET', path });
    expect(spec.replicas).toBe(0);
  });

  test('says what is left when a node does not let go of its pods', async () => {
    const operator = await fill(true);
    node.fail();
    const callers = { namespace: cluster.namespace, deployments: [] };
    const removal = removeSandboxes(
      { kubernetes: cluster.kubernetes, log },
      { namespace: cluster.namespace, callers, timeoutMs: 1 },
    );
    await expect(removal).rejects.toThrow(/^There are 0 callers, 2 sessions and 2 pods left after [\d.]+ s\.$/);
    node.recover();
    await operator.close();
  });

  test('is a command of the operator, which fails with a reason', async () => {
    const env = {
      PATH: process.env['PATH'] ?? '',
      KUBECONFIG: cluster.kubeconfig,
      CAPSTAN_KUBERNETES_NAMESPACE: cluster.namespace,
    };
    await promisify(execFile)(process.execPath, [MAIN, 'operator', 'remove-sandboxes'], { env });
    expect(await count('sessions')).toBe(0);
    const nowhere = promisify(execFile)(process.execPath, [MAIN, 'operator', 'remove-sandboxes'], {
      env: { ...env, KUBECONFIG: '/nowhere' },
    });
    await expect(nowhere).rejects.toThrow(/capstan: /);
  });
});
