import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildListPath, buildPath } from '../../src/platform/kubernetes/paths.ts';
import { buildSigner } from '../../src/sandbox/executor/token.ts';
import { openKubernetesSandboxes } from '../../src/sandbox/kubernetes/kubernetes.ts';
import { SandboxRefusedError } from '../../src/sandbox/sandbox.ts';
import type { Sandboxes } from '../../src/sandbox/sandbox.ts';
import type { Session } from '../../src/sandbox/resources/session.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import type { Claim } from '../../src/platform/kubernetes/types.ts';
import { openLog } from '../../src/platform/log.ts';
import { findCluster, newName, waitFor } from '../support/cluster/cluster.ts';
import type { Cluster } from '../support/cluster/cluster.ts';
import { buildRunning } from '../support/cluster/kubelet.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';
import { POD_OPTIONS, openStage } from '../support/cluster/operator.ts';
import type { Stage } from '../support/cluster/operator.ts';
import { NEVER, newTarget } from '../support/sandbox.ts';

const found = await findCluster();
const KEY = Buffer.alloc(32, 3).toString('base64');
const SLOW = 60_000;

describe.skipIf(found === undefined)('refusals of the API server', () => {
  let cluster: Cluster;
  let stage: Stage;
  let api: Stage['api'];
  let sandboxes: Sandboxes;

  beforeAll(async () => {
    cluster = found as Cluster;
    stage = await openStage(cluster);
    ({ api } = stage);
    const { kubernetes, namespace } = cluster;
    const log = openLog({ level: 'silent', pretty: false });
    sandboxes = await openKubernetesSandboxes({ kubernetes, namespace, signer: buildSigner(KEY), log });
  });
  afterAll(async () => {
    await sandboxes?.close();
    await stage?.close();
  });

  /** Creates a built-in object of Kubernetes and returns a function that deletes it. */
  const apply = async (root: string, plural: string, body: { metadata: { name: string } }) => {
    const path = `${root}/namespaces/${cluster.namespace}/${plural}`;
    await cluster.kubernetes.request({ method: 'POST', path, body });
    return () => cluster.kubernetes.request({ method: 'DELETE', path: `${path}/${body.metadata.name}` });
  };
  /** A full quota. Its usage is counted by a controller, which does not run here. */
  const fill = async (resource: string) => {
    const name = `q-${newName()}`;
    const hard = { [resource]: '0' };
    const body = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name }, spec: { hard } };
    const release = await apply('/api/v1', 'resourcequotas', body);
    const path = `/api/v1/namespaces/${cluster.namespace}/resourcequotas/${name}/status`;
    await cluster.kubernetes.request({ method: 'PATCH', path, body: { status: { hard, used: { [resource]: '0' } } } });
    // The API server's admission reads it through its own watch.
    return release;
  };
  const readEvents = async (name: string): Promise<string[]> => {
    const columns = 'jsonpath={range .items[*]}{.involvedObject.name} {.type} {.reason} {.message}{"\\n"}{end}';
    const events = await runKubectl(cluster, ['get', 'events', '-o', columns]);
    return events.split('\n').filter((line) => line.startsWith(`${name} `));
  };
  const refusedByQuota = async (resource: string): Promise<void> => {
    const path =
      resource === 'pods'
        ? buildListPath(cluster.namespace, 'pods')
        : buildListPath(cluster.namespace, 'persistentvolumeclaims');
    const metadata = { name: `probe-${newName()}`, namespace: cluster.namespace };
    const security = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
    const container = { name: 'x', image: 'x', securityContext: security };
    const securityContext = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [container], securityContext } };
    const request = { resources: { requests: { storage: '1Mi' } }, accessModes: ['ReadWriteOnce'] };
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: request };
    const body = resource === 'pods' ? pod : claim;
    await waitFor('the quota holds', async () =>
      cluster.kubernetes.request({ method: 'POST', path, query: { dryRun: 'All' }, body }).then(
        () => false,
        (error: unknown) => String(error).includes('exceeded quota'),
      ),
    );
  };

  test(
    'a full quota is the reason of the session, a Warning and the answer to the caller; the pod comes when it is freed',
    async () => {
      const release = await fill('pods');
      await refusedByQuota('pods');
      const target = newTarget({ sessionId: `ses_${newName()}`, subjectId: newName() });
      const error: unknown = await sandboxes.acquire(target, NEVER).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(SandboxRefusedError);
      expect(String(error)).toMatch(/did not start: .*exceeded quota/);
      const name = target.sessionId.replaceAll('_', '-');
      const { session, ready } = await api.untilReason(name, 'QuotaExceeded');
      expect(session.status).toMatchObject({ phase: 'Pending', observedGeneration: session.metadata.generation });
      expect(ready).toMatchObject({ status: 'False', message: expect.stringContaining('exceeded quota') });
      await waitFor('a Warning', async () =>
        (await readEvents(name)).some((line) => line.includes('Warning QuotaExceeded')),
      );
      expect((await readEvents(name)).length).toBe(1);
      // The subject's files need a pod as well.
      const files: unknown = await sandboxes.openVolume(target, { create: true }).catch((reason: unknown) => reason);
      expect(String(files)).toMatch(/exceeded quota/);
      await release();
      await api.untilPhase(name, 'Running');
    },
    SLOW,
  );

  test(
    'a full quota of claims is the reason of volume and session',
    async () => {
      // No node can run a pod whose claim does not exist.
      stage.node.behave('wait');
      const release = await fill('persistentvolumeclaims');
      await refusedByQuota('persistentvolumeclaims');
      const name = await stage.newSession();
      const { session, ready } = await api.untilReason(name, 'VolumeFailed');
      expect(ready.message).toContain('exceeded quota');
      const volume = await api.untilVolume(
        session.spec.volumeName,
        'failed',
        ({ status }) => status?.phase === 'Failed',
      );
      expect(volume.status?.conditions).toContainEqual(
        expect.objectContaining({ type: 'Ready', reason: 'QuotaExceeded' }),
      );
      await release();
      await api.untilReason(name, 'PodStarting');
      await stage.node.report(name, buildRunning('10.9.0.1'));
      await api.untilPhase(name, 'Running');
      stage.node.behave('run');
    },
    SLOW,
  );

  test(
    'an admission policy that denies the pod is the reason, in its own words',
    async () => {
      const subject = 'denied-one';
      const name = `deny-${newName()}`;
      const admission = '/apis/admissionregistration.k8s.io/v1';
      const scope = {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
      };
      const expression = `!('capstan.dev/volume' in object.metadata.labels) || object.metadata.labels['capstan.dev/volume'] != '${subject}'`;
      const policy = {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicy',
        metadata: { name },
        spec: { matchConstraints: scope, validations: [{ expression, message: 'not in this house' }] },
      };
      const selector = { matchLabels: { 'kubernetes.io/metadata.name': cluster.namespace } };
      const binding = {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata: { name },
        spec: { policyName: name, validationActions: ['Deny'], matchResources: { namespaceSelector: selector } },
      };
      const { kubernetes } = cluster;
      await kubernetes.request({ method: 'POST', path: `${admission}/validatingadmissionpolicies`, body: policy });
      await kubernetes.request({
        method: 'POST',
        path: `${admission}/validatingadmissionpolicybindings`,
        body: binding,
      });
      const volumeName = await newNamedVolume(subject);
      const reached = await waitFor('refused', async () => {
        const session = await stage.newSession({ volumeName });
        const { status } = await waitFor('a status', async () => {
          const now = await api.find<Session>('sessions', session);
          return now?.status?.phase === 'Running' || now?.status?.phase === 'Failed' ? now : undefined;
        });
        if (status?.phase === 'Failed') return session;
        await api.remove('sessions', session);
        await api.untilGone('pods', session);
        return undefined;
      });
      const { ready } = await api.untilReason(reached, 'PodRefused');
      expect(ready.message).toContain('not in this house');
      await kubernetes.request({ method: 'DELETE', path: `${admission}/validatingadmissionpolicybindings/${name}` });
      await kubernetes.request({ method: 'DELETE', path: `${admission}/validatingadmissionpolicies/${name}` });
      await api.untilPhase(reached, 'Running');
    },
    SLOW,
  );

  const newNamedVolume = async (name: string): Promise<string> => {
    const volume = await api.find<Volume>('volumes', await stage.newVolume());
    const metadata = { name, namespace: cluster.namespace };
    const spec = volume?.spec ?? {};
    const body = { apiVersion: 'capstan.dev/v1alpha1', kind: 'Volume', metadata, spec };
    await cluster.kubernetes.request({ method: 'POST', path: buildListPath(cluster.namespace, 'volumes'), body });
    return name;
  };

  test(
    'a claim that gets no storage says why, in the words of the cluster, and so does the session',
    async () => {
      stage.node.fail();
      const name = await stage.newSession();
      const volumeName = (await api.find<Session>('sessions', name))?.spec.volumeName ?? '';
      const claim = await waitFor('the claim', () => api.find<Claim>('persistentvolumeclaims', volumeName));
      const message = 'storageclass.storage.k8s.io "gone" not found';
      await apply('/api/v1', 'events', {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: `${volumeName}.1` },
        involvedObject: {
          kind: 'PersistentVolumeClaim',
          namespace: cluster.namespace,
          name: volumeName,
          uid: claim.metadata.uid,
        },
        type: 'Warning',
        reason: 'ProvisioningFailed',
        message,
        lastTimestamp: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
      } as { metadata: { name: string } });
      const failed = await api.untilVolume(volumeName, 'failed', ({ status }) => status?.phase === 'Failed');
      const ready = failed.status?.conditions?.find(({ type }) => type === 'Ready');
      expect(ready).toMatchObject({ reason: 'ProvisioningFailed', message: expect.stringContaining(message) });
      expect((await api.untilReason(name, 'VolumeFailed')).ready.message).toContain(message);
      stage.node.recover();
      const body = { status: { phase: 'Bound', capacity: { storage: '512Mi' } } };
      const path = buildPath(cluster.namespace, 'persistentvolumeclaims', volumeName, 'status');
      await cluster.kubernetes.request({ method: 'PATCH', path, body });
      await api.untilVolume(volumeName, 'ready', ({ status }) => status?.phase === 'Ready');
      await api.remove('sessions', name);
    },
    SLOW,
  );
});

const another = found === undefined ? undefined : await findCluster();

describe.skipIf(another === undefined)('a runtime class that the cluster does not have', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(another as Cluster, { pod: { ...POD_OPTIONS, runtimeClassName: 'no-such-runtime' } });
  });
  afterAll(() => stage?.close());

  test('is the reason of the session', async () => {
    const { session, ready } = await stage.api.untilReason(await stage.newSession(), 'PodRefused');
    expect(session.status?.phase).toBe('Failed');
    expect(ready.message).toContain('no-such-runtime');
  });
});
