import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_VERSION } from '../../src/platform/kubernetes/resource.ts';
import { buildListPath, buildPath } from '../../src/platform/kubernetes/paths.ts';
import type { Claim, Pod } from '../../src/platform/kubernetes/types.ts';
import type { SandboxClass, SandboxClassSpec } from '../../src/sandbox/resources/sandbox-class.ts';
import { findCluster, newName, waitFor } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';
import { openStage } from '../support/cluster/operator.ts';
import type { Stage } from '../support/cluster/operator.ts';

const found = await findCluster();
type WholePod = Pod & { spec: { containers: { image: string }[]; volumes: object[] } };
type List<T> = { items: T[] };

describe.skipIf(found === undefined)('a warm pool', () => {
  let cluster: Cluster;
  let stage: Stage;
  let api: Stage['api'];
  beforeAll(async () => {
    cluster = found as Cluster;
    stage = await openStage(cluster);
    ({ api } = stage);
    // The pods of a pool trust the key of the newest volume.
    await stage.newVolume();
  });
  afterAll(() => stage?.close());

  const newClass = async (spec: SandboxClassSpec): Promise<string> => {
    const name = `c-${newName()}`;
    const body = { apiVersion: API_VERSION, kind: 'SandboxClass', metadata: { name }, spec };
    await cluster.kubernetes.request({
      method: 'POST',
      path: buildListPath(cluster.namespace, 'sandboxclasses'),
      body,
    });
    return name;
  };
  const untilClass = (name: string, what: string, holds: (found: SandboxClass) => boolean) =>
    waitFor(`class ${name}: ${what}`, async () => {
      const sandboxClass = await api.find<SandboxClass>('sandboxclasses', name);
      return sandboxClass !== undefined && holds(sandboxClass) ? sandboxClass : undefined;
    });
  const untilReady = (name: string, count: number) =>
    untilClass(name, `${count} ready`, ({ status }) => status?.warm?.ready === count && status.warm.pods === count);
  const listPool = async (name: string): Promise<WholePod[]> => {
    const path = buildListPath(cluster.namespace, 'pods');
    const query = { labelSelector: `capstan.dev/class=${name},capstan.dev/warm=true` };
    const { items } = await cluster.kubernetes.request<List<WholePod>>({ method: 'GET', path, query });
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  };
  const listPods = async (volume: string): Promise<WholePod[]> => {
    const path = buildListPath(cluster.namespace, 'pods');
    const query = { labelSelector: `capstan.dev/volume=${volume}` };
    return (await cluster.kubernetes.request<List<WholePod>>({ method: 'GET', path, query })).items;
  };
  const readOwners = (object: Pod | Claim | undefined) => object?.metadata.ownerReferences?.map(({ uid }) => uid);

  test('gives the first session of a new volume a pod that is ready, with its disk', async () => {
    const name = await newClass({ warm: { target: 1 } });
    await untilReady(name, 1);
    const [waiting] = await listPool(name);
    const volumeName = await stage.newVolume({ sandboxClass: name });
    const session = await stage.newRunning({ volumeName, sandboxClass: name });
    expect(session.status?.podUid).toBe(waiting?.metadata.uid);
    expect(await listPods(volumeName)).toHaveLength(1);
    const volume = await api.untilVolume(volumeName, 'ready', ({ status }) => status?.phase === 'Ready');
    expect(volume.status?.claimName).toBe(waiting?.metadata.name);
    const claim = await api.find<Claim>('persistentvolumeclaims', volume.status?.claimName ?? '');
    expect(readOwners(claim)).toEqual([volume.metadata.uid]);
    expect(claim?.metadata.labels).toMatchObject({ 'capstan.dev/volume': volumeName });
    expect(claim?.metadata.labels).not.toHaveProperty('capstan.dev/warm');
    expect(await api.find('persistentvolumeclaims', volumeName)).toBeUndefined();
    const pod = await api.find<WholePod>('pods', session.status?.podName ?? '');
    expect(readOwners(pod)).toEqual([session.metadata.uid]);
    expect(pod?.metadata.labels).toMatchObject({ 'capstan.dev/subject-id': 'ada', 'capstan.dev/volume': volumeName });
    await untilReady(name, 1);
  });

  test('a later session gets its own pod on the disk that the volume took', async () => {
    const name = await newClass({ warm: { target: 1 } });
    await untilReady(name, 1);
    const volumeName = await stage.newVolume({ sandboxClass: name });
    const first = await stage.newRunning({ volumeName, sandboxClass: name });
    await api.remove('sessions', first.metadata.name);
    await api.untilGone('pods', first.status?.podName ?? '');
    await untilReady(name, 1);
    const second = await stage.newRunning({ volumeName, sandboxClass: name });
    const pod = await api.find<WholePod>('pods', second.status?.podName ?? '');
    expect(pod?.metadata.name).toBe(second.metadata.name);
    expect(pod?.spec.volumes).toContainEqual({
      name: 'workspace',
      persistentVolumeClaim: { claimName: first.status?.podName },
    });
    expect(await listPool(name)).toHaveLength(1);
  });

  test('serves the standby pod of a new volume as well', async () => {
    const name = await newClass({ warm: { target: 1 } });
    await untilReady(name, 1);
    const [waiting] = await listPool(name);
    const standbyUntil = new Date(Date.now() + 600_000).toISOString();
    const volumeName = await stage.newVolume({ sandboxClass: name, standbyUntil });
    const volume = await api.untilVolume(volumeName, 'has a standby', ({ status }) => status?.podIP !== undefined);
    expect(volume.status?.podUid).toBe(waiting?.metadata.uid);
  });

  test('never gives a pod or a disk to two volumes', async () => {
    const name = await newClass({ warm: { target: 3 } });
    await untilReady(name, 3);
    const sessions = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const volumeName = await stage.newVolume({ sandboxClass: name });
        return stage.newRunning({ volumeName, sandboxClass: name });
      }),
    );
    const uids = sessions.map(({ status }) => status?.podUid);
    expect(new Set(uids).size).toBe(6);
    const claims = await Promise.all(
      sessions.map(({ spec }) =>
        api.untilVolume(spec.volumeName, 'has a claim', ({ status }) => status?.claimName !== undefined),
      ),
    );
    expect(new Set(claims.map(({ status }) => status?.claimName)).size).toBe(6);
    expect(stage.node.violations).toEqual([]);
  });

  test('takes no pod that the volume would make otherwise', async () => {
    const name = await newClass({ warm: { target: 1 } });
    await untilReady(name, 1);
    const volumeName = await stage.newVolume({ sandboxClass: name, initialSize: '1Gi' });
    const session = await stage.newRunning({ volumeName, sandboxClass: name });
    expect(session.status?.podName).toBe(session.metadata.name);
    expect(await listPool(name)).toHaveLength(1);
  });

  test('replaces its pods when the class changes, and is resized by kubectl scale', async () => {
    const name = await newClass({ image: 'example.test/old:1', warm: { target: 1 } });
    await untilReady(name, 1);
    await api.patch('sandboxclasses', name, { spec: { image: 'example.test/new:1' } });
    await waitFor('pods of the new image', async () => {
      const pods = await listPool(name);
      return pods.length === 1 && pods[0]?.spec.containers[0]?.image === 'example.test/new:1';
    });
    await runKubectl(cluster, ['scale', 'sandboxclass', name, '--replicas=2']);
    await untilReady(name, 2);
    const path = `${buildPath(cluster.namespace, 'sandboxclasses', name)}/scale`;
    const scale = await cluster.kubernetes.request<{ spec: object; status: object }>({ method: 'GET', path });
    expect(scale).toMatchObject({
      spec: { replicas: 2 },
      status: { replicas: 2, selector: `capstan.dev/class=${name},capstan.dev/warm=true` },
    });
    await api.patch('sandboxclasses', name, { spec: { warm: null } });
    await waitFor('an empty pool', async () => (await listPool(name)).length === 0);
  });

  test('says in its condition that the API server refuses its pods', async () => {
    const name = await newClass({ priorityClassName: 'not-there', warm: { target: 1 } });
    const { status } = await untilClass(
      name,
      'refused',
      (each) => each.status?.conditions?.some(({ reason }) => reason === 'PodRefused') === true,
    );
    expect(status?.conditions?.find(({ type }) => type === 'Warm')?.message).toContain('not-there');
  });

  test('is counted in the metrics', async () => {
    const name = await newClass({ warm: { target: 1 } });
    await untilReady(name, 1);
    const volumeName = await stage.newVolume({ sandboxClass: name });
    await stage.newRunning({ volumeName, sandboxClass: name });
    const text = await (await fetch(`${stage.operator.address}/metrics`)).text();
    expect(text).toContain(`capstan_operator_warm_takes_total{class="${name}",result="warm"} 1`);
    expect(text).toContain(`capstan_operator_warm_pods{class="${name}",state="ready"}`);
  });
});
