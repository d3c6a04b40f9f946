import type { Kubernetes } from '../../../src/platform/kubernetes/client.ts';
import { startInformer } from '../../../src/platform/kubernetes/informer.ts';
import type { Informer } from '../../../src/platform/kubernetes/informer.ts';
import { buildListPath, buildPath } from '../../../src/platform/kubernetes/paths.ts';
import type { Pod } from '../../../src/platform/kubernetes/types.ts';
import type { Volume } from '../../../src/sandbox/resources/volume.ts';
import { LABELS } from '../../../src/platform/kubernetes/resource.ts';
import { openLog } from '../../../src/platform/log.ts';
import { bindPod, startStorage, tolerate as tolerateLate } from './stand-ins.ts';

type Whole = Pod & { spec: { containers: { name: string; image: string; args: string[] }[] } };

/** Runs a pod's container, for tests that need a real one. */
export type Runtime = { start(pod: Pod, args: string[]): Promise<string>; stop(pod: Pod): Promise<void> };

export type Node = {
  pods: Informer<Pod>;
  /** from now on, the fate of new pods: running, running without a readiness probe yet, waiting for ever, or this status */
  behave(how: 'run' | 'unprobed' | 'wait' | { status: object }): void;
  /** simulates a node that does not respond */
  fail(): void;
  recover(): void;
  /** as a kubelet reports it */
  report(name: string, status: object): Promise<void>;
  /** whether a session ever had more than one live pod, by the order of the API server's own events */
  violations: string[];
  close(): Promise<void>;
};

let subnet = 1;

/**
 * Stands in for scheduler, kubelet and storage without a node: binds pods, reports their state, finalizes deleted
 * ones, binds claims. It uses the API server like them, and has no other access.
 */
export function startNode(kubernetes: Kubernetes, namespace: string, runtime?: Runtime): Node {
  const log = openLog({ level: 'silent', pretty: false });
  const violations: string[] = [];
  const started = new Set<string>();
  let how: Parameters<Node['behave']>[0] = 'run';
  let isFailed = false;
  let counter = 0;
  subnet += 1;
  const net = subnet;

  const report = async (name: string, change: object): Promise<void> => {
    const path = buildPath(namespace, 'pods', name, 'status');
    await kubernetes.request({ method: 'PATCH', path, body: { status: change } });
  };
  const onError = (error: unknown) => void violations.push(`the node: ${String(error)}`);
  const tolerate = (work: Promise<unknown>): void => tolerateLate(work, onError);

  const begin = async (pod: Whole): Promise<void> => {
    const { name } = pod.metadata;
    if (how === 'wait') return;
    if (typeof how === 'object') return report(name, how.status);
    const isProbed = how === 'run';
    await bindPod(kubernetes, namespace, name, 'node-1');
    counter += 1;
    const args = pod.spec.containers[0]?.args ?? [];
    const podIP = runtime === undefined ? `10.9.${net}.${counter}` : await runtime.start(pod, args);
    await report(name, isProbed ? buildRunning(podIP) : buildUnprobed(podIP));
  };

  const pods = startInformer<Pod>({
    kubernetes,
    path: buildListPath(namespace, 'pods'),
    strip: (pod) => pod,
    indexes: { session: ({ metadata }) => metadata.labels?.[LABELS.sessionUid] },
    log,
  });
  pods.onChange((_, pod, before) => {
    const uid = pod?.metadata.labels?.[LABELS.sessionUid];
    const live = uid === undefined ? [] : pods.find('session', uid).filter(isLive);
    if (live.length > 1)
      violations.push(`session ${uid} has ${live.map(({ metadata }) => metadata.name).join(' and ')}`);
    if (isFailed) return;
    if (pod === undefined) {
      if (before !== undefined) tolerate(runtime?.stop(before) ?? Promise.resolve());
    } else if (pod.metadata.deletionTimestamp !== undefined) {
      tolerate(letGo(kubernetes, namespace, pod, runtime));
    } else if (!started.has(pod.metadata.uid)) {
      started.add(pod.metadata.uid);
      tolerate(begin(pod as Whole));
    }
  });

  const claims = startStorage({ kubernetes, namespace, log, onError, isAway: () => isFailed });

  // Deletes the dependents of a deleted volume, like the cluster's garbage collector.
  const volumes = startInformer<Volume>({
    kubernetes,
    path: buildListPath(namespace, 'volumes'),
    strip: (volume) => volume,
    log,
  });
  volumes.onChange((name, volume, before) => {
    if (volume !== undefined) return;
    const path = buildPath(namespace, 'persistentvolumeclaims', before?.status?.claimName ?? name);
    const release = { metadata: { finalizers: null } };
    const collect = async () => {
      await kubernetes.request({ method: 'DELETE', path });
      await kubernetes.request({ method: 'PATCH', path, body: release });
    };
    tolerate(collect());
  });

  return {
    pods,
    violations,
    report,
    behave(next) {
      how = next;
    },
    fail() {
      isFailed = true;
    },
    recover() {
      isFailed = false;
      for (const pod of pods.list()) {
        if (pod.metadata.deletionTimestamp !== undefined) tolerate(letGo(kubernetes, namespace, pod, runtime));
      }
    },
    async close() {
      await Promise.all([pods.close(), claims.close(), volumes.close()]);
    },
  };
}

function isLive(pod: Pod): boolean {
  return pod.status?.phase !== 'Failed' && pod.status?.phase !== 'Succeeded';
}

/** The last update of a kubelet: the process has ended, and so has the pod. */
async function letGo(kubernetes: Kubernetes, namespace: string, pod: Pod, runtime: Runtime | undefined): Promise<void> {
  await runtime?.stop(pod);
  const { name, uid } = pod.metadata;
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0, preconditions: { uid } };
  await kubernetes.request({ method: 'DELETE', path: buildPath(namespace, 'pods', name), body });
}

export function buildRunning(podIP: string): object {
  return {
    phase: 'Running',
    podIP,
    podIPs: [{ ip: podIP }],
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Ready', status: 'True' },
    ],
    containerStatuses: [buildContainer(true, { running: { startedAt: new Date().toISOString() } })],
  };
}

/** The container runs; the kubelet has not probed it yet. */
function buildUnprobed(podIP: string): object {
  return {
    ...buildRunning(podIP),
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Ready', status: 'False', reason: 'ContainersNotReady' },
    ],
    containerStatuses: [buildContainer(false, { running: { startedAt: new Date().toISOString() } })],
  };
}

export function buildContainer(ready: boolean, state: object): object {
  return { name: 'executor', image: 'x', imageID: 'x', restartCount: 0, ready, started: ready, state };
}

export function buildWaiting(reason: string, message: string): object {
  return {
    phase: 'Pending',
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Ready', status: 'False', reason: 'ContainersNotReady' },
    ],
    containerStatuses: [buildContainer(false, { waiting: { reason, message } })],
  };
}

export const UNSCHEDULABLE = {
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available.' }],
};
