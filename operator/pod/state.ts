import type { Pod } from '../../src/platform/kubernetes/types.ts';
import { readKubeletReason } from '../runtime/reasons.ts';
import type { Reason } from '../runtime/reasons.ts';

/**
 * A pod as the operator sees it.
 *
 * - `starting`: not ready yet. `stuck`: needs someone to fix something, and continues by itself afterwards.
 * - `ready`: accepts calls. `unready`: has run and does not respond now.
 * - `ending`: is being deleted. `lost`: is being deleted, but its node does not respond, so it may still run.
 * - `ended`: its process is gone; the pod object only records why.
 */
export type PodState = {
  state: 'starting' | 'stuck' | 'ready' | 'unready' | 'ending' | 'lost' | 'ended';
  /** of the condition Ready */
  reason: Reason;
  message: string;
};

const IMAGE_REASONS = new Set(['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull']);
const CONFIG_REASONS = new Set(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError']);

/** The state of a pod from the API server. Messages are for cluster operators. */
export function describePod(pod: Pod): PodState {
  const { status = {}, metadata } = pod;
  if (status.phase === 'Failed' || status.phase === 'Succeeded') return describeEnd(pod);
  if (metadata.deletionTimestamp !== undefined) return describeDeletion(pod);
  if (status.containerStatuses?.[0]?.state?.terminated !== undefined) return describeEnd(pod);
  return describeWaiting(pod) ?? describeScheduling(pod) ?? describeReadiness(pod);
}

/** By the owner's UID alone: names are reused, and others can set labels. */
export function isOwnedBy(pod: Pod, uid: string): boolean {
  return pod.metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) === true;
}

function findCondition({ status }: Pod, type: string) {
  return status?.conditions?.find((condition) => condition.type === type);
}

function describeDeletion(pod: Pod): PodState {
  const { name } = pod.metadata;
  const disruption = findCondition(pod, 'DisruptionTarget');
  const isLost = disruption?.status === 'True' && disruption.reason === 'DeletionByTaintManager';
  if (!isLost) return { state: 'ending', reason: 'PodEnding', message: `Pod ${name} is ending.` };
  const message =
    `Node ${pod.spec.nodeName ?? 'none'} does not respond, so pod ${name} may still run there. A new pod starts when ` +
    'the node is back or has been removed from the cluster.';
  return { state: 'lost', reason: 'NodeLost', message };
}

/** A container that the kubelet cannot start. */
function describeWaiting({ spec, status }: Pod): PodState | undefined {
  const waiting = status?.containerStatuses?.[0]?.state?.waiting;
  if (waiting?.reason === undefined) return undefined;
  const node = spec.nodeName === undefined ? '' : ` on node ${spec.nodeName}`;
  const cause = waiting.message ?? waiting.reason;
  if (IMAGE_REASONS.has(waiting.reason)) {
    const message = `The sandbox image cannot be pulled${node}: ${cause}`;
    return { state: 'stuck', reason: 'ImagePullFailed', message };
  }
  if (CONFIG_REASONS.has(waiting.reason)) {
    const message = `The container cannot be started${node}: ${cause}`;
    return { state: 'stuck', reason: 'ContainerCannotStart', message };
  }
  return undefined;
}

function describeScheduling(pod: Pod): PodState | undefined {
  const scheduled = findCondition(pod, 'PodScheduled');
  if (scheduled?.status !== 'False') return undefined;
  if (scheduled.reason === 'Unschedulable') {
    const message = `No node can take the pod: ${scheduled.message ?? 'no reason given'}`;
    return { state: 'stuck', reason: 'Unschedulable', message };
  }
  if (scheduled.reason === 'SchedulingGated') {
    return { state: 'starting', reason: 'SchedulingGated', message: 'A scheduling gate holds the pod back.' };
  }
  return undefined;
}

function describeReadiness(pod: Pod): PodState {
  const { name } = pod.metadata;
  const ready = findCondition(pod, 'Ready');
  if (ready?.status === 'True' && pod.status?.podIP !== undefined) {
    return { state: 'ready', reason: 'PodReady', message: `Pod ${name} accepts calls.` };
  }
  const isRunning = pod.status?.containerStatuses?.[0]?.state?.running !== undefined;
  if (isRunning && ready?.status === 'False' && ready.reason !== 'ContainersNotReady') {
    const message = `Pod ${name} on node ${pod.spec.nodeName ?? 'none'} does not respond.`;
    return { state: 'unready', reason: 'PodNotReady', message };
  }
  return { state: 'starting', reason: 'PodStarting', message: `Pod ${name} is starting.` };
}

/** Why a process ended, according to its node or the kernel. */
function describeEnd({ metadata, spec, status = {} }: Pod): PodState {
  const terminated = status.containerStatuses?.[0]?.state?.terminated;
  const end = (reason: Reason, message: string): PodState => ({ state: 'ended', reason, message });
  if (status.reason === 'Evicted') {
    const cause = status.message ?? 'no reason given';
    return end('Evicted', `Node ${spec.nodeName ?? 'none'} evicted pod ${metadata.name}: ${cause}`);
  }
  if (terminated?.reason === 'OOMKilled') {
    return end('OutOfMemory', `Pod ${metadata.name} exceeded its memory limit and was killed.`);
  }
  if (status.reason !== undefined) return end(readKubeletReason(status.reason), status.message ?? status.reason);
  const code = terminated?.exitCode === undefined ? '' : ` with exit code ${terminated.exitCode}`;
  return end('PodEnded', `Pod ${metadata.name} ended${code}.`);
}
