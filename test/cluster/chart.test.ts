import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import {
  CHART,
  IMAGES,
  applyFile,
  findChartCluster,
  pickRights,
  renderChart,
  runHelm,
} from '../support/cluster/chart.ts';
import { buildVolume } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';

const SERVICES = ['api', 'gateway', 'video', 'login'];
const EVERYTHING = [
  'video.enabled=true,login.enabled=true,dashboard.enabled=true,login.runtimeClass=gvisor',
  'video.image=example.test/media:1,login.image=example.test/media:1',
  ...[...SERVICES, 'worker'].map((role) => `${role}.autoscaling.enabled=true`),
].join(',');
const INGRESS = SERVICES.map((role) => `${role}.ingress.enabled=true,${role}.ingress.host=${role}.test`).join(',');
const OUTSIDE =
  'postgresql.bundled=false,postgresql.url=postgres://db/x,nats.bundled=false,nats.existingSecret.name=nats,' +
  'redis.bundled=false,redis.url=redis://r,s3.bundled=false,s3.url=s3://bucket,s3.credentialsSecret=aws';

type Rendered = {
  kind: string;
  metadata: { name: string; labels?: Record<string, string> };
  spec?: { groups?: { rules: unknown[] }[]; template?: { spec: { containers: object[] } } };
};

/** role, verb, resource, options of kubectl */
type What = [string, string, string, ...string[]];

const found = await findChartCluster();

describe.skipIf(found === undefined)('the chart', () => {
  let cluster: Cluster;
  let scratch: string;
  beforeAll(() => {
    cluster = found as Cluster;
    scratch = mkdtempSync(join(tmpdir(), 'chart-'));
    return () => cluster.kubernetes.close();
  });
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));

  /** With everything in the namespace of this test. */
  const here = () => `sandbox.namespace=${cluster.namespace}`;
  const render = (...sets: string[]): Promise<string> => renderChart(cluster.namespace, here(), ...sets);

  const apply = (text: string, ...options: string[]): Promise<string> => {
    const file = join(scratch, 'rendered.yaml');
    writeFileSync(file, text);
    return applyFile(cluster, file, ...options);
  };

  // A pod that violates the namespace's restricted standard, and an unknown field, are warnings or errors.
  test.each([
    ['as it comes', [IMAGES]],
    ['with everything on', [IMAGES, EVERYTHING, INGRESS, 'providerKeysSecret=keys,imagePullSecrets[0]=registry']],
    ['with backends outside of it', [IMAGES, OUTSIDE, 'keys.existingSecret=mine']],
  ])('is taken by the API server %s', async (_, sets) => {
    expect(await apply(await render(...sets), '--dry-run=server')).toBe('');
  });

  test('passes the linter, and gives Prometheus its rules and what to ask', async () => {
    const told = await runHelm(['lint', '--strict', CHART, '--set', `${IMAGES},${EVERYTHING}`]);
    expect(told).toContain('0 chart(s) failed');
    const documents = parseAllDocuments(
      await render(IMAGES, EVERYTHING, 'serviceMonitor.enabled=true,alerts.enabled=true,alerts.labels.team=ops'),
    ).map((document) => document.toJS() as Rendered);
    const roles = ['api', 'gateway', 'login', 'operator', 'video', 'worker'];
    const monitors = documents.filter(({ kind }) => kind === 'ServiceMonitor');
    expect(monitors.map(({ metadata }) => metadata.name).sort()).toEqual(roles.map((role) => `demo-capstan-${role}`));
    const [rules] = documents.filter(({ kind }) => kind === 'PrometheusRule');
    expect(rules?.metadata.labels).toMatchObject({ team: 'ops' });
    expect(rules?.spec?.groups?.[0]?.rules.length).toBeGreaterThan(10);
    for (const { spec } of documents.filter(({ kind }) => kind === 'Deployment')) {
      const [container] = spec?.template?.spec.containers ?? [];
      expect(Object.keys(container ?? {})).toEqual(
        expect.arrayContaining(['startupProbe', 'livenessProbe', 'readinessProbe', 'resources']),
      );
    }
  });

  test.each([
    ['no image', 'sandbox.image=x', /image\.repository: name the image/],
    ['no sandbox image', 'image.repository=x', /sandbox\.image: name the image/],
    ['a backend that is nowhere', `${IMAGES},redis.bundled=false`, /redis: set bundled, url or existingSecret/],
    ['an unknown value', `${IMAGES},api.replica=3`, /additional properties 'replica' not allowed/],
  ])('with %s is refused', async (_, set, message) => {
    await expect(render(set)).rejects.toThrow(message);
  });

  test('keeps keys and passwords through an upgrade and past an uninstall', async () => {
    const where = ['--kubeconfig', cluster.kubeconfig, '--namespace', cluster.namespace];
    const helm = (...args: string[]) => runHelm([...args, ...where]);
    const readSecrets = async (): Promise<string[]> =>
      Promise.all(
        ['keys', 'backends'].map((name) =>
          runKubectl(cluster, ['get', 'secret', `kept-capstan-${name}`, '-o', 'jsonpath={.data}']),
        ),
      );
    // The job that goes before an uninstall needs nodes.
    const sets = ['--set', `${IMAGES},${here()},crds.install=false,uninstall.removeSandboxes=false`];
    await helm('install', 'kept', CHART, ...sets);
    const made = await readSecrets();
    const key = JSON.parse(made[0] ?? '') as { CAPSTAN_MASTER_KEY: string };
    const masterKey = Buffer.from(key.CAPSTAN_MASTER_KEY, 'base64').toString();
    expect(Buffer.from(masterKey, 'base64')).toHaveLength(32);
    await helm('upgrade', 'kept', CHART, ...sets, '--set', 'api.replicas=3');
    expect(await readSecrets()).toEqual(made);
    await helm('uninstall', 'kept');
    expect(await readSecrets()).toEqual(made);
    await helm('install', 'kept', CHART, ...sets);
    expect(await readSecrets()).toEqual(made);
    await helm('uninstall', 'kept');
  });

  test('an upgrade stays in the namespace that holds Volumes; a new release has one for sandboxes', async () => {
    const where = ['--kubeconfig', cluster.kubeconfig, '--namespace', cluster.namespace];
    const name = cluster.namespace;
    const sets = ['--set', `${IMAGES},fullnameOverride=${name},crds.install=false,uninstall.removeSandboxes=false`];
    const helm = (...args: string[]) => runHelm([...args, ...where]);
    const readNamespace = async () => {
      const environment =
        'jsonpath={.spec.template.spec.containers[0].env[?(@.name=="CAPSTAN_KUBERNETES_NAMESPACE")].value}';
      return runKubectl(cluster, ['get', `deployment/${name}-operator`, '-o', environment]);
    };
    // As an older release had it.
    await helm('install', 'moved', CHART, ...sets, '--set', here());
    const volume = await cluster.create(buildVolume(cluster.namespace));
    await helm('upgrade', 'moved', CHART, ...sets);
    expect(await readNamespace()).toBe(cluster.namespace);
    const { name: volumeName } = volume.metadata;
    await runKubectl(cluster, ['annotate', 'volumes.capstan.dev', volumeName, 'capstan.dev/allow-deletion=true']);
    await runKubectl(cluster, ['delete', 'volumes.capstan.dev', volumeName]);
    await helm('upgrade', 'moved', CHART, ...sets);
    expect(await readNamespace()).toBe(`${name}-sandboxes`);
    const enforced = 'jsonpath={.metadata.labels.pod-security\\.kubernetes\\.io/enforce}';
    const readLabel = () => runKubectl(cluster, ['get', 'namespace', `${name}-sandboxes`, '-o', enforced]);
    expect(await readLabel()).toBe('restricted');
    const account = `system:serviceaccount:${cluster.namespace}:${name}-operator`;
    const ask = ['auth', 'can-i', 'create', 'pods', '--as', account, '--namespace'];
    expect((await runKubectl(cluster, [...ask, `${name}-sandboxes`])).trim()).toBe('yes');
    await expect(runKubectl(cluster, [...ask, cluster.namespace])).rejects.toThrow('Command failed');
    // The disks of subjects are there.
    await helm('uninstall', 'moved');
    expect(await readLabel()).toBe('restricted');
  });

  test('gives each role the rights that it needs, and no more', async () => {
    const rights = pickRights(await render(IMAGES));
    expect(rights).toHaveLength(5 + 5 + 5);
    await apply(rights.join('---\n'));
    const may = async (role: string, verb: string, resource: string, ...rest: string[]): Promise<boolean> => {
      const account = `system:serviceaccount:${cluster.namespace}:demo-capstan-${role}`;
      return runKubectl(cluster, ['auth', 'can-i', verb, resource, ...rest, '--as', account]).then(
        () => true,
        () => false,
      );
    };
    const granted: What[] = [
      ['worker', 'create', 'sessions.capstan.dev'],
      ['api', 'patch', 'volumes.capstan.dev'],
      ['operator', 'create', 'pods'],
      ['operator', 'patch', 'volumes.capstan.dev', '--subresource=status'],
      ['operator', 'update', 'leases/capstan-operator'],
      ['uninstall', 'delete', 'sessions.capstan.dev'],
      ['uninstall', 'delete', 'pods'],
      ['operator', 'patch', 'sandboxclasses.capstan.dev', '--subresource=status'],
      ['uninstall', 'patch', 'deployments/demo-capstan-worker', '--subresource=scale'],
    ];
    for (const [role, ...what] of granted)
      expect([role, ...what, await may(role, ...what)]).toEqual([role, ...what, true]);
    const denied: What[] = [
      ['worker', 'create', 'pods'],
      ['api', 'get', 'secrets'],
      ['worker', 'patch', 'sessions.capstan.dev', '--subresource=status'],
      ['gateway', 'list', 'sessions.capstan.dev'],
      ['operator', 'get', 'secrets'],
      ['operator', 'create', 'pods', '--subresource=exec'],
      ['operator', 'patch', 'sandboxclasses.capstan.dev'],
      ['operator', 'update', 'leases/other'],
      ['operator', 'delete', 'persistentvolumeclaims'],
      ['operator', 'list', 'pods', '--all-namespaces'],
      ['uninstall', 'delete', 'volumes.capstan.dev'],
      ['uninstall', 'delete', 'persistentvolumeclaims'],
      ['uninstall', 'patch', 'deployments/other', '--subresource=scale'],
    ];
    for (const [role, ...what] of denied)
      expect([role, ...what, await may(role, ...what)]).toEqual([role, ...what, false]);
  });
});
