import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildListPath, buildPath } from '../../src/platform/kubernetes/paths.ts';
import type { VolumeSpec } from '../../src/sandbox/resources/volume.ts';
import { IMAGES, applyFile, findChartCluster, renderChart } from '../support/cluster/chart.ts';
import { buildSession, buildVolume, waitFor } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';

const found = await findChartCluster();
const OWNER = { organizationId: 'org_1', agentId: 'agt_1', subjectId: 'ada' };

describe.skipIf(found === undefined)('the admission policies of the chart', () => {
  let cluster: Cluster;
  let scratch: string;
  let file: string;
  beforeAll(async () => {
    cluster = found as Cluster;
    scratch = mkdtempSync(join(tmpdir(), 'admission-'));
    file = join(scratch, 'policies.yaml');
    const rendered = await renderChart(cluster.namespace, IMAGES, `sandbox.namespace=${cluster.namespace}`);
    const policies = rendered.split(/^---$/m).filter((text) => /^kind: ValidatingAdmissionPolicy/m.test(text));
    if (policies.length !== 4) throw new Error(`the chart has ${policies.length} policies and bindings`);
    writeFileSync(file, policies.join('---\n'));
    await applyFile(cluster, file);
    const volume = await cluster.create(buildVolume(cluster.namespace));
    // The API server applies them with a delay.
    await waitFor('the policies act', async () => {
      const path = buildPath(cluster.namespace, 'volumes', volume.metadata.name);
      const call = { method: 'DELETE', path, query: { dryRun: 'All' } } as const;
      const isKept = await cluster.kubernetes.request(call).then(
        () => false,
        () => true,
      );
      const session = buildSession(cluster.namespace, { volumeName: volume.metadata.name, subjectId: 'mallory' });
      const dryRun = {
        method: 'POST',
        path: buildListPath(cluster.namespace, 'sessions'),
        query: { dryRun: 'All' },
      } as const;
      const isRefused = await cluster.kubernetes.request({ ...dryRun, body: session }).then(
        () => false,
        () => true,
      );
      return isKept && isRefused;
    });
  }, 60_000);
  afterAll(async () => {
    await runKubectl(cluster, ['delete', '-f', file]);
    rmSync(scratch, { recursive: true, force: true });
    await cluster.kubernetes.close();
  });

  const newVolume = async (spec: Partial<VolumeSpec> = OWNER): Promise<string> =>
    (await cluster.create(buildVolume(cluster.namespace, spec))).metadata.name;
  /** The policy reads the Volume through a watch. */
  const untilKnown = (volumeName: string) =>
    waitFor('the policy knows the volume', async () => {
      const body = buildSession(cluster.namespace, { volumeName, subjectId: 'nobody' });
      const path = buildListPath(cluster.namespace, 'sessions');
      const call = { method: 'POST', path, query: { dryRun: 'All' }, body } as const;
      return cluster.kubernetes.request(call).then(
        () => false,
        () => true,
      );
    });

  test.each(['organizationId', 'agentId', 'subjectId'])(
    'a session of another %s cannot name the volume',
    async (field) => {
      const volumeName = await newVolume();
      await newVolume({ ...OWNER, subjectId: 'other' });
      await untilKnown(volumeName);
      const session = buildSession(cluster.namespace, { ...OWNER, volumeName, [field]: 'mallory' });
      await expect(cluster.create(session)).rejects.toThrow('the Volume of another organization, agent or subject');
      await cluster.create(buildSession(cluster.namespace, { ...OWNER, volumeName }));
    },
  );

  test('a volume and its claim are protected from accidental deletion', async () => {
    const name = await newVolume();
    const metadata = { name, namespace: cluster.namespace, labels: { 'capstan.dev/volume': name } };
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } };
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec };
    const path = buildListPath(cluster.namespace, 'persistentvolumeclaims');
    await cluster.kubernetes.request({ method: 'POST', path, body: claim });
    const other = { ...claim, metadata: { name: `${name}-other`, namespace: cluster.namespace } };
    await cluster.kubernetes.request({ method: 'POST', path, body: other });
    await runKubectl(cluster, ['delete', 'pvc', `${name}-other`, '--wait=false']);
    for (const what of ['volumes.capstan.dev', 'persistentvolumeclaims']) {
      const deletion = runKubectl(cluster, ['delete', what, name, '--wait=false']);
      await expect(deletion).rejects.toThrow(`kubectl annotate ${what} ${name} capstan.dev/allow-deletion=true`);
      await expect(runKubectl(cluster, ['delete', what, '--all', '--wait=false'])).rejects.toThrow('allow-deletion');
      await runKubectl(cluster, ['annotate', what, name, 'capstan.dev/allow-deletion=true']);
      await runKubectl(cluster, ['delete', what, name, '--wait=false']);
    }
  });

  test('the services delete volumes, and nobody else by their name', async () => {
    const account = (role: string, namespace: string) => `system:serviceaccount:${namespace}:demo-capstan-${role}`;
    const remove = (name: string, user: string) =>
      runKubectl(cluster, ['delete', 'volumes.capstan.dev', name, '--as', user, '--as-group', 'system:masters']);
    const name = await newVolume();
    await expect(remove(name, account('operator', cluster.namespace))).rejects.toThrow('allow-deletion');
    await expect(remove(name, account('api', 'elsewhere'))).rejects.toThrow('allow-deletion');
    await remove(name, account('api', cluster.namespace));
    await remove(await newVolume(), account('worker', cluster.namespace));
  });
});
