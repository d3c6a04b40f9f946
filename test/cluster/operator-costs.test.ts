import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { openKubernetes } from '../../src/platform/kubernetes/client.ts';
import type { Kubernetes } from '../../src/platform/kubernetes/client.ts';
import { API_VERSION } from '../../src/platform/kubernetes/resource.ts';
import type { SandboxClass } from '../../src/sandbox/resources/sandbox-class.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import { buildListPath, buildPath } from '../../src/platform/kubernetes/paths.ts';
import { findAuditLog, readAudit } from '../support/cluster/audit.ts';
import type { Noted } from '../support/cluster/audit.ts';
import { IMAGES, applyFile, findChartCluster, pickRights, renderChart } from '../support/cluster/chart.ts';
import { newName, waitFor } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { openStage } from '../support/cluster/operator.ts';
import type { Stage } from '../support/cluster/operator.ts';
import { readKubeconfig } from '../support/cluster/stand-ins.ts';
import { makeScratch } from '../support/scratch.ts';

const cluster = await findChartCluster();
const isAudited = cluster !== undefined && findAuditLog(cluster) !== undefined;
const ACCOUNT = 'demo-capstan-operator';
const CLASSES = '/apis/storage.k8s.io/v1/storageclasses';
const WRITES = new Set(['create', 'update', 'patch', 'delete']);
const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();

type Role = { kind: string; rules?: { resources: string[]; verbs: string[] }[] };

/** The operator with the service account of the chart, so that the API server's audit log records its requests. */
describe.skipIf(!isAudited)('requests of the operator to the API server', () => {
  if (cluster === undefined) return;
  const { namespace, kubernetes } = cluster;
  const scratch = makeScratch('costs');
  let rights: string[];
  let own: Kubernetes;
  let stage: Stage;
  let api: Stage['api'];

  beforeAll(async () => {
    const rendered = await renderChart(namespace, IMAGES, `sandbox.namespace=${namespace}`);
    rights = pickRights(rendered).filter((text) => text.includes(`\n  name: ${ACCOUNT}\n`));
    const file = join(scratch, 'rights.yaml');
    writeFileSync(file, rights.join('---\n'));
    await applyFile(cluster, file);
    own = await openAccount(cluster, scratch);
    const expandable = { provisioner: 'example.test/none', allowVolumeExpansion: true };
    const storage = {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: namespace },
      ...expandable,
    };
    await kubernetes.request({ method: 'POST', path: CLASSES, body: storage });
    stage = await openStage(cluster, { storageClassName: namespace }, own);
    api = stage.api;
  });
  afterAll(async () => {
    await kubernetes.request({ method: 'DELETE', path: `${CLASSES}/${namespace}` });
    await stage?.close();
    await own?.close();
    rmSync(scratch, { recursive: true, force: true });
  });

  /** Its writes since then, without its lease. */
  const readWrites = (from = 0): Noted[] =>
    readAudit(cluster, ACCOUNT)
      .filter(({ verb, resource, status }) => WRITES.has(verb) && resource !== 'leases' && status < 300)
      .slice(from);
  const describeWrite = ({ verb, resource, body }: Noted): string =>
    [verb, resource, body?.status?.phase ?? body?.reason].filter((part) => part !== undefined).join(' ');
  /**
   * Since the first `from`, without slow starts, once all of these have arrived: the log is written after the
   * response.
   */
  const readSteps = async (from: number, count: number): Promise<string[]> => {
    const read = () =>
      readWrites(from)
        .map(describeWrite)
        .filter((text) => !isSlowStart(text));
    await waitFor('the writes stand in the log', () => read().length >= count);
    return read();
  };
  /** Logged only for starts of more than a second, as on a busy machine. */
  const isSlowStart = (text: string): boolean => text === 'patch sessions/status Starting';
  const readPasses = async (): Promise<number> => {
    const text = await (await fetch(`${stage.operator.address}/metrics`)).text();
    const counts = text.matchAll(/^capstan_operator_reconcile_seconds_count\{kind="sessions".*\} (\d+)$/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const newReadyVolume = async (): Promise<string> => {
    const name = await stage.newVolume();
    await api.untilVolume(name, 'ready', ({ status }) => status?.phase === 'Ready');
    return name;
  };

  test('a session that starts on its volume costs two writes and at most five passes', async () => {
    const volumeName = await newReadyVolume();
    const [writes, passes] = [readWrites().length, await readPasses()];
    await stage.newRunning({ volumeName });
    expect(await readSteps(writes, 2)).toEqual(['create pods', 'patch sessions/status Running']);
    expect((await readPasses()) - passes).toBeLessThanOrEqual(5);
  });

  test('the whole life of a session costs these writes, and no other', async () => {
    const volumeName = await newReadyVolume();
    const before = readWrites().length;
    const name = await stage.newSession({ volumeName, desiredState: 'Suspended' });
    const change = (spec: object) => api.patch('sessions', name, { spec });
    await api.untilReason(name, 'NotStarted');
    await change({ desiredState: 'Running' });
    await api.untilPhase(name, 'Running');
    await change({ lastActivityAt: ago(15 * 60_000 - 500) });
    await api.untilReason(name, 'Idle');
    await api.untilPhase(name, 'Suspended');
    await change({ lastActivityAt: ago(0) });
    await api.untilPhase(name, 'Running');
    await change({ desiredState: 'Suspended' });
    await api.untilPhase(name, 'Suspended');
    await change({ desiredState: 'Running' });
    await api.untilPhase(name, 'Running');
    await api.remove('sessions', name);
    await api.untilGone('pods', name);
    const start = ['create pods', 'patch sessions/status Running'];
    const rest = ['patch sessions/status Suspending', 'delete pods', 'patch sessions/status Suspended'];
    // The middle one is the new generation of a running session.
    const use = ['patch sessions/status Running'];
    const life = [['patch sessions/status Suspended'], start, use, rest, start, rest, start, ['delete pods']].flat();
    expect(await readSteps(before, life.length)).toEqual(life);
  });

  test('every right that the chart gives is used, and nothing else is asked for', async () => {
    const waiting = await stage.newSession({ volumeName: `vol-${newName()}`, lastActivityAt: ago(60_000) });
    await api.untilReason(waiting, 'VolumeNotFound');
    const standbyUntil = ago(-3_600_000);
    const volumeName = await stage.newVolume({ standbyUntil });
    const { status } = await api.untilVolume(
      volumeName,
      'has a standby',
      (volume) => volume.status?.podIP !== undefined,
    );
    const session = await stage.newRunning({ volumeName });
    expect(session.status?.podUid).toBe(status?.podUid);
    // Simulates a report of its executor.
    const path = buildPath(namespace, 'volumes', volumeName, 'status');
    await kubernetes.request({ method: 'PATCH', path, body: { status: { usedBytes: 500 * 2 ** 20 } } });
    await api.patch('volumes', volumeName, { spec: { standbyUntil: ago(1000) } });
    const isGrown = (volume: Volume): boolean => volume.status?.size === '1Gi';
    await api.untilVolume(volumeName, 'has grown', isGrown);
    await api.remove('sessions', session.metadata.name);
    await api.untilGone('pods', status?.podName ?? '');
    // A claim that somebody deletes, and one that gets no storage.
    await api.remove('persistentvolumeclaims', volumeName);
    await api.patch('persistentvolumeclaims', volumeName, { metadata: { finalizers: null } }).catch(() => undefined);
    await api.untilVolume(volumeName, 'has lost its files', (volume) => volume.status?.lostDisk !== undefined);
    const warm = {
      apiVersion: API_VERSION,
      kind: 'SandboxClass',
      metadata: { name: 'warm' },
      spec: { warm: { target: 1 } },
    };
    await kubernetes.request({ method: 'POST', path: buildListPath(namespace, 'sandboxclasses'), body: warm });
    await waitFor(
      'a warm pod',
      async () => (await api.find<SandboxClass>('sandboxclasses', 'warm'))?.status?.warm?.ready === 1,
    );
    stage.node.fail();
    await stage.newVolume();

    const granted = new Set<string>();
    for (const document of rights.flatMap((text) => parseAllDocuments(text).map((one) => one.toJS() as Role))) {
      for (const { resources, verbs } of document.rules ?? []) {
        for (const resource of resources) for (const verb of verbs) granted.add(`${verb} ${resource}`);
      }
    }
    // Sent by an admission plugin in the operator's name, in clusters that have it.
    for (const resource of ['sessions', 'volumes', 'sandboxclasses']) {
      expect(granted.delete(`update ${resource}/finalizers`)).toBe(true);
    }
    // Used where a schedule of backups is set; see operator-backup.test.ts.
    for (const verb of ['create', 'delete', 'get', 'list']) {
      expect(granted.delete(`${verb} volumesnapshots`)).toBe(true);
    }
    const used = () => new Set(readAudit(cluster, ACCOUNT).map(({ verb, resource }) => `${verb} ${resource}`));
    // The log holds watches from their start, and events slightly later than the changes that they report.
    await waitFor('an event is told, and others are read', () =>
      ['create events', 'list events'].every((right) => used().has(right)),
    );
    expect([...used()].sort()).toEqual([...granted].sort());
    expect(readAudit(cluster, ACCOUNT).filter((entry) => entry.status === 403)).toEqual([]);
  });
});

/** A client with the files of a pod with this service account. */
async function openAccount(target: Cluster, folder: string): Promise<Kubernetes> {
  const { server, ca } = readKubeconfig(target.kubeconfig);
  const path = `/api/v1/namespaces/${target.namespace}/serviceaccounts/${ACCOUNT}/token`;
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } };
  const { status } = await target.kubernetes.request<{ status: { token: string } }>({ method: 'POST', path, body });
  const files = { token: status.token, 'ca.crt': ca, namespace: target.namespace };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const { hostname, port } = new URL(server);
  return openKubernetes({ pod: { host: hostname, port: Number(port), folder } });
}
