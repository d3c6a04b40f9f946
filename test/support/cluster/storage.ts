import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeScratch } from '../scratch.ts';
import { findKubectl } from '../services/kubernetes.ts';
import { startServer } from '../services/process.ts';
import type { Service } from '../services/process.ts';
import type { Cluster } from './cluster.ts';
import { runKubectl } from './kubectl.ts';

const ADDONS = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'capstan', 'addons');
const DRIVER = 'loop.capstan-cluster';

/** The folder of a build with a CSI driver, its sidecars and the snapshot controller; undefined if there is none. */
export function findStorage(): string | undefined {
  const builds = existsSync(ADDONS) ? readdirSync(ADDONS).map((name) => join(ADDONS, name)) : [];
  const found = builds.find((path) => existsSync(join(path, 'complete')) && existsSync(join(path, 'csi-snapshotter')));
  const manager = findManager();
  if (found !== undefined && manager !== undefined) return found;
  process.stderr.write(
    'Skipped what needs snapshots in earnest: `scripts/cluster/up.sh --build` builds a CSI driver.\n',
  );
  return undefined;
}

/** The node cluster alone needs it, so it may not be built. */
function findManager(): string | undefined {
  const path = join(dirname(findKubectl() ?? ''), 'kube-controller-manager');
  return existsSync(path) ? path : undefined;
}

const CLASSES = [
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'disk', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: DRIVER,
  },
  {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshotClass',
    metadata: { name: 'disk', annotations: { 'snapshot.storage.kubernetes.io/is-default-class': 'true' } },
    driver: DRIVER,
    deletionPolicy: 'Delete',
  },
];

/**
 * The storage of the node cluster beside a control plane: claims are bound, snapshots are taken and restored by the
 * programs that do so in a cluster. Nothing is mounted; `disks` is the folder of the disks, each a file.
 */
export async function startStorage(cluster: Cluster, programs: string) {
  const definitions = join(programs, 'definitions');
  await runKubectl(cluster, ['apply', '--server-side', '-f', definitions]);
  await runKubectl(cluster, ['wait', '--for=condition=Established', '-f', definitions, '--timeout=1m']);
  for (const body of CLASSES) {
    const plural = body.kind === 'StorageClass' ? 'storageclasses' : 'volumesnapshotclasses';
    await cluster.kubernetes.request({ method: 'POST', path: `/apis/${body.apiVersion}/${plural}`, body });
  }
  const folder = makeScratch('storage');
  const disks = join(folder, 'disks');
  const socket = join(folder, 'kubelet/plugins', DRIVER, 'csi.sock');
  const access = `--kubeconfig=${cluster.kubeconfig}`;
  const running: Service[] = [];
  const start = async (
    command: string,
    args: string[],
    ready: () => Promise<void> = async () => undefined,
  ): Promise<void> => {
    const scratch = makeScratch('storage-program');
    running.push(await startServer({ command, args, scratch, url: '', ready, signal: 'SIGKILL' }));
  };
  await start(join(programs, 'storage'), [disks, join(folder, 'kubelet'), 'node-1'], async () => {
    if (!existsSync(socket)) throw new Error(`nothing listens on ${socket}`);
  });
  const controllers = 'persistentvolume-binder-controller,persistentvolumeclaim-protection-controller';
  await start(findManager() ?? '', [
    access,
    `--controllers=${controllers}`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    '--secure-port=0',
  ]);
  for (const sidecar of ['csi-provisioner', 'csi-snapshotter']) {
    await start(join(programs, sidecar), [access, `--csi-address=${socket}`]);
  }
  await start(join(programs, 'snapshot-controller'), [access]);
  return {
    disks,
    async stop(): Promise<void> {
      for (const service of running.toReversed()) await service.stop();
    },
  };
}
