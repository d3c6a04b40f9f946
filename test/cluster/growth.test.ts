import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Operator } from '../../operator/start.ts';
import { openKubernetesSandboxes } from '../../src/sandbox/kubernetes/kubernetes.ts';
import { buildVolumeName } from '../../src/sandbox/kubernetes/names.ts';
import type { Sandboxes } from '../../src/sandbox/sandbox.ts';
import { buildSigner } from '../../src/sandbox/executor/token.ts';
import { USAGE_ANNOTATION } from '../../src/platform/kubernetes/resource.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import { openLog } from '../../src/platform/log.ts';
import { buildVolume, findCluster, newName } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { startNode } from '../support/cluster/kubelet.ts';
import type { Node } from '../support/cluster/kubelet.ts';
import { buildAccess, openOperator } from '../support/cluster/operator.ts';
import { openRuntime } from '../support/cluster/runtime.ts';
import { newTarget } from '../support/sandbox.ts';

const found = await findCluster();
const MIB = 2 ** 20;

/** The operator polls only every hour here. */
describe.skipIf(found === undefined)('a volume that a call fills', () => {
  let cluster: Cluster;
  let node: Node;
  let operator: Operator;
  let runtime: ReturnType<typeof openRuntime>;
  let sandboxes: Sandboxes;
  let api: ReturnType<typeof buildAccess>;

  beforeAll(async () => {
    cluster = found as Cluster;
    api = buildAccess(cluster);
    runtime = openRuntime();
    node = startNode(cluster.kubernetes, cluster.namespace, runtime);
    const { kubernetes, namespace } = cluster;
    // The API server lets no claim grow without one.
    const storageClassName = `growing-${namespace}`;
    const storageClass = { metadata: { name: storageClassName }, provisioner: 'test', allowVolumeExpansion: true };
    await kubernetes.request({ method: 'POST', path: '/apis/storage.k8s.io/v1/storageclasses', body: storageClass });
    operator = await openOperator(cluster, { pollMs: 3_600_000, storageClassName });
    const signer = buildSigner(Buffer.alloc(32, 3).toString('base64'));
    const log = openLog({ level: 'silent', pretty: false });
    sandboxes = await openKubernetesSandboxes({ kubernetes, namespace, signer, log, volumeWaitMs: 60_000 });
  });
  afterAll(async () => {
    await sandboxes?.close();
    await operator?.close();
    await node?.close();
    runtime?.close();
    await cluster?.kubernetes.close();
  });

  test('grows at the end of it, by one write of who called', async () => {
    const target = newTarget({ subjectId: newName() });
    const name = buildVolumeName(target);
    const body = buildVolume(cluster.namespace, { initialSize: '8Mi', maxSize: '32Mi' });
    await cluster.create({ ...body, metadata: { ...body.metadata, name } });
    const files = await sandboxes.openVolume(target, { create: true });
    const write = async (path: string, bytes: number): Promise<void> => {
      const content = (async function* () {
        yield new Uint8Array(bytes);
      })();
      await files?.write(path, content, { protect: [], maxBytes: bytes, overwrite: true, createParents: true });
    };
    const seen = async () => (await api.find<Volume>('volumes', name))?.metadata.annotations?.[USAGE_ANNOTATION];
    await write('some', 5 * MIB);
    const { status } = await api.untilVolume(name, 'is bound', (volume) => volume.status?.phase === 'Ready');
    expect(status?.size).toBe('8Mi');
    expect(await seen()).toBeUndefined();
    await write('more', 2 * MIB);
    await api.untilVolume(name, 'has grown', (volume) => volume.status?.size === '16Mi');
    expect(Number(await seen())).toBeGreaterThan(6 * MIB);
    await write('most', 7 * MIB);
    await api.untilVolume(name, 'has grown again', (volume) => volume.status?.size === '32Mi');
    expect(Number(await seen())).toBeGreaterThan(13 * MIB);
  });
});
