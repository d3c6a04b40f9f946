import { expect, test } from 'vitest';
import { buildPod } from '../../operator/pod/build.ts';
import type { PodOptions } from '../../operator/pod/build.ts';
import { applyClass, applyVolumeClass } from '../../operator/pod/sandbox-class.ts';
import type { SandboxClassSpec } from '../../src/sandbox/resources/sandbox-class.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';

const metadata = { name: 'vol-1', namespace: 'n', uid: 'u-1', resourceVersion: '1' };
const volume: Volume = {
  metadata,
  spec: {
    organizationId: 'org_1',
    agentId: 'agt_1',
    subjectId: 'ada lovelace',
    publicKey: 'A'.repeat(43),
    initialSize: '512Mi',
    maxSize: '4Gi',
  },
};
const options: PodOptions = {
  image: 'sandbox:1',
  userNamespaces: false,
  requests: { cpu: '100m', memory: '256Mi' },
  limits: { cpu: '2', memory: '2Gi', 'ephemeral-storage': '2Gi' },
};
const build = (spec: SandboxClassSpec | undefined, over: Partial<PodOptions> = {}) => {
  const sandboxClass = spec === undefined ? undefined : { metadata: { ...metadata, name: 'gpu' }, spec };
  const owner = { apiVersion: 'v1', kind: 'Session', name: 'ses-1', uid: 'u-2' };
  return buildPod(volume, 'vol-1', applyClass({ ...options, ...over }, sandboxClass), {
    name: 'ses-1',
    owner,
    labels: {},
  });
};

test('the pod of one volume leaves the affinity of the class to all others', () => {
  const affinity = { nodeAffinity: { x: 1 } };
  expect(build({ affinity }).spec.affinity?.podAffinity).toBeDefined();
  expect(affinity).toEqual({ nodeAffinity: { x: 1 } });
});

test('a class places and sizes the pod; omitted fields keep their default', () => {
  const pod = build({
    image: 'sandbox:gpu',
    resources: { requests: { cpu: '1' }, limits: { 'nvidia.com/gpu': '1' } },
    nodeSelector: { pool: 'untrusted' },
    tolerations: [{ key: 'untrusted', operator: 'Exists' }],
    affinity: { nodeAffinity: { x: 1 }, podAffinity: { x: 1 } },
    priorityClassName: 'low',
    runtimeClassName: 'gvisor',
    imagePullSecrets: [{ name: 'registry' }],
    annotations: { 'karpenter.sh/do-not-disrupt': 'true', 'capstan.dev/public-key': 'forged' },
    labels: { team: 'a', 'capstan.dev/session-uid': 'forged', 'app.kubernetes.io/component': 'worker' },
    hostUsers: false,
    egress: 'None',
  });
  expect(pod.spec).toMatchObject({
    nodeSelector: { pool: 'untrusted' },
    priorityClassName: 'low',
    runtimeClassName: 'gvisor',
    imagePullSecrets: [{ name: 'registry' }],
    hostUsers: false,
    containers: [
      {
        image: 'sandbox:gpu',
        resources: {
          requests: { cpu: '1', memory: '256Mi' },
          limits: { cpu: '2', memory: '2Gi', 'ephemeral-storage': '2Gi', 'nvidia.com/gpu': '1' },
        },
      },
    ],
  });
  expect(pod.spec.tolerations).toContainEqual({ key: 'untrusted', operator: 'Exists' });
  // Pods of a volume must share its node, whatever a class sets.
  expect(pod.spec.affinity).toMatchObject({ nodeAffinity: { x: 1 } });
  expect(pod.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution).toHaveLength(1);
  const { labels, annotations } = pod.metadata as Record<string, Record<string, string>>;
  expect(labels).toMatchObject({ team: 'a', 'capstan.dev/class': 'gpu', 'capstan.dev/egress': 'none' });
  expect(labels).toMatchObject({ 'app.kubernetes.io/component': 'sandbox', 'capstan.dev/agent-id': 'agt_1' });
  expect(labels).not.toHaveProperty('capstan.dev/session-uid');
  // Not a valid label value.
  expect(labels).not.toHaveProperty('capstan.dev/subject-id');
  expect(annotations).toMatchObject({ 'karpenter.sh/do-not-disrupt': 'true' });
  expect(annotations?.['capstan.dev/public-key']).not.toBe('forged');
});

test('without a class the settings of the operator count, and the user is fixed unless the cluster assigns it', () => {
  expect(build(undefined).spec.containers[0]?.image).toBe('sandbox:1');
  expect(build(undefined).spec.securityContext).toMatchObject({ runAsUser: 1000, fsGroup: 1000 });
  const { securityContext } = build(undefined, { clusterUids: true }).spec;
  for (const field of ['runAsUser', 'runAsGroup', 'fsGroup']) expect(securityContext).not.toHaveProperty(field);
  expect(securityContext).toMatchObject({ runAsNonRoot: true });
});

test('a class sizes the volume', () => {
  const sandboxClass = { metadata, spec: { volume: { initialSize: '10Gi', maxSize: '100Gi' } } };
  expect(applyVolumeClass(volume, sandboxClass).spec).toMatchObject({ initialSize: '10Gi', maxSize: '100Gi' });
  expect(applyVolumeClass(volume, undefined)).toBe(volume);
});
