// Tests: test/operator/runtime.test.ts, test/cluster/operator.test.ts
import type { V1PodSpec } from '@kubernetes/client-node';
import { API_VERSION, EXECUTOR_PORT, KEY_ANNOTATION, LABELS } from '../../src/platform/kubernetes/resource.ts';
import type { OwnerReference, ResourceMeta } from '../../src/platform/kubernetes/resource.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import { sha256 } from '../../src/platform/crypto.ts';
import { omitUndefined } from '../../src/platform/records.ts';
import { parseQuantity } from '../volume/quantity.ts';

/** The operator's settings for all sandbox pods. */
export type PodOptions = {
  image: string;
  /** container runtime, for example gVisor; default: the cluster's */
  runtimeClassName?: string;
  /** run pods in user namespaces; nodes must support them */
  userNamespaces: boolean;
  /** quantities by resource */
  requests: Record<string, string>;
  limits: Record<string, string>;
  nodeSelector?: Record<string, string>;
  schedulerName?: string;
  tolerations?: object[];
  /** without podAffinity, which the operator sets */
  affinity?: object;
  priorityClassName?: string;
  imagePullSecrets?: { name: string }[];
  annotations?: Record<string, string>;
  labels?: Record<string, string>;
  /** the cluster assigns users and groups, as OpenShift does; default: 1000 */
  clusterUids?: boolean;
  /** of the SandboxClass */
  className?: string;
  /** no egress except DNS; enforced by the chart's network policies */
  hasNoEgress?: boolean;
};

/** Pods are evicted from an unreachable node after this time. */
const NODE_LOSS_SECONDS = 30;
const USER = 1000;

/** Standby pods do nothing that eviction would lose, so they do not keep the cluster autoscaler from removing a node. */
export const SAFE_TO_EVICT_ANNOTATION = 'cluster-autoscaler.kubernetes.io/safe-to-evict';

export function fingerprint(publicKey: string): string {
  return sha256(publicKey).slice(0, 16);
}

export function buildOwner(kind: 'Session' | 'Volume' | 'SandboxClass', { name, uid }: ResourceMeta): OwnerReference {
  return { apiVersion: API_VERSION, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** The format of a label value that the API server accepts. */
const LABEL_VALUE = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** Of all pods that mount the volume. */
export function buildVolumeLabels({ metadata, spec: { organizationId, agentId, subjectId } }: Volume) {
  return {
    [LABELS.volume]: metadata.name,
    [LABELS.volumeUid]: metadata.uid,
    [LABELS.organizationId]: organizationId,
    [LABELS.agentId]: agentId,
    ...(LABEL_VALUE.test(subjectId) ? { [LABELS.subjectId]: subjectId } : {}),
  };
}

export type PodIdentity = {
  name: string;
  owner: OwnerReference;
  labels: Record<string, string>;
  annotations?: Record<string, string>;
};

export type PodBody = {
  apiVersion: 'v1';
  kind: 'Pod';
  metadata: { name: string; [key: string]: unknown };
  spec: V1PodSpec;
};

/** A pod that serves one volume through its claim. */
export function buildPod(volume: Volume, claimName: string, options: PodOptions, identity: PodIdentity): PodBody {
  const { name, uid, namespace } = volume.metadata;
  const pod = buildExecutorPod({ ...volume.spec, namespace, claimName }, options, {
    ...identity,
    labels: { ...buildVolumeLabels(volume), ...identity.labels },
  });
  // The claim can be mounted on one node at a time, so all pods of a volume share a node.
  const podAffinity = {
    requiredDuringSchedulingIgnoredDuringExecution: [
      {
        labelSelector: { matchLabels: { [LABELS.volume]: name, [LABELS.volumeUid]: uid } },
        topologyKey: 'kubernetes.io/hostname',
      },
    ],
  };
  // A copy: the class's affinity is shared by all of its pods.
  pod.spec.affinity = Object.assign({}, pod.spec.affinity, { podAffinity });
  return pod;
}

/** What an executor needs to know of the files that it serves. */
export type PodFiles = { namespace: string; claimName: string; publicKey: string; maxSize: string };

/** A pod for the files of one claim: no cluster permissions, no secrets, no privilege escalation. */
export function buildExecutorPod(files: PodFiles, options: PodOptions, identity: PodIdentity): PodBody {
  const tolerate = (key: string) => ({
    key: `node.kubernetes.io/${key}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: NODE_LOSS_SECONDS,
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: identity.name,
      namespace: files.namespace,
      labels: {
        ...options.labels,
        [LABELS.managedBy]: 'capstan-operator',
        [LABELS.component]: 'sandbox',
        ...omitUndefined({ [LABELS.sandboxClass]: options.className }),
        ...(options.hasNoEgress === true ? { [LABELS.egress]: 'none' } : {}),
        ...identity.labels,
      },
      annotations: {
        ...identity.annotations,
        ...options.annotations,
        [KEY_ANNOTATION]: fingerprint(files.publicKey),
      },
      ownerReferences: [identity.owner],
    },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 5,
      ...omitUndefined({
        runtimeClassName: options.runtimeClassName,
        schedulerName: options.schedulerName,
        nodeSelector: options.nodeSelector,
        priorityClassName: options.priorityClassName,
        imagePullSecrets: options.imagePullSecrets,
      }),
      ...(options.userNamespaces ? { hostUsers: false } : {}),
      securityContext: {
        runAsNonRoot: true,
        ...(options.clusterUids === true ? {} : { runAsUser: USER, runAsGroup: USER, fsGroup: USER }),
        fsGroupChangePolicy: 'OnRootMismatch',
        seccompProfile: { type: 'RuntimeDefault' },
      },
      ...omitUndefined({ affinity: options.affinity }),
      tolerations: [tolerate('not-ready'), tolerate('unreachable'), ...(options.tolerations ?? [])],
      containers: [buildContainer(files, options)],
      volumes: [
        { name: 'workspace', persistentVolumeClaim: { claimName: files.claimName } },
        { name: 'tmp', emptyDir: { sizeLimit: '1Gi' } },
      ],
    },
  };
}

function buildContainer({ publicKey, maxSize }: PodFiles, options: PodOptions): V1PodSpec['containers'][number] {
  return {
    name: 'executor',
    image: options.image,
    imagePullPolicy: 'IfNotPresent',
    args: [
      ['--workspace', '/workspace', '--state-dir', '/tmp/.capstan', '--own-pids'],
      ['--listen', `$(POD_IP):${EXECUTOR_PORT}`],
      ['--public-key', publicKey, '--audience', '$(POD_UID)'],
      ['--volume-bytes', String(parseQuantity(maxSize))],
    ].flat(),
    env: [
      { name: 'POD_UID', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } },
      // Allows IPv4 and IPv6 clusters.
      { name: 'POD_IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
    ],
    ports: [{ name: 'executor', containerPort: EXECUTOR_PORT }],
    readinessProbe: {
      httpGet: { path: '/healthz', port: EXECUTOR_PORT },
      periodSeconds: 2,
      timeoutSeconds: 2,
    },
    resources: { requests: options.requests, limits: options.limits },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [
      // Not the root of the disk, where file systems keep folders such as lost+found.
      { name: 'workspace', mountPath: '/workspace', subPath: 'workspace' },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
}
