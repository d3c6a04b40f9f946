import type { Pod } from '../../src/platform/kubernetes/types.ts';

/**
 * What a pod is to us.
 *
 * - `starting`: on its way. `stuck`: on its way, but somebody has to mend something; it goes on by itself then.
 * - `ready`: takes calls. `unready`: ran and does not answer now.
 * - `ending`: will be gone. `lost`: should be gone, but its node does not answer, so it may still run.
 * - `ended`: its process is gone; the pod is only a record of why.
 */
export type PodState = {
  state: 'starting' | 'stuck' | 'ready' | 'unready' | 'ending' | 'lost' | 'ended';
  /** of the condition Ready */
  reason: string;
  message: string;
};

const IMAGE_REASONS = new Set(['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull']);
const CONFIG_REASONS = new Set(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError']);

/** Of a pod as the API server tells it, in words for whoever runs the cluster. */
export function describePod(pod: Pod): PodState {
  const { status = {}, metadata, spec } = pod;
  const find = (type: string) => status.conditions?.find((condition) => condition.type === type);
  const node = spec.nodeName ?? 'none';
  const where = spec.nodeName === undefined ? '' : ` on node ${spec.nodeName}`;
  const [container] = status.containerStatuses ?? [];
  const { waiting, terminated, running } = container?.state ?? {};
  const disruption = find('DisruptionTarget');

  if (status.phase === 'Failed' || status.phase === 'Succeeded') return describeEnd(pod);
  if (metadata.deletionTimestamp !== undefined) {
    const isLost = disruption?.status === 'True' && disruption.reason === 'DeletionByTaintManager';
    return isLost
      ? {
          state: 'lost',
          reason: 'NodeLost',
          message:
            `Node ${node} does not answer, so pod ${metadata.name} may still run there. A new one starts when the node ` +
            'is back, or has been removed from the cluster.',
        }
      : { state: 'ending', reason: 'PodEnding', message: `Pod ${metadata.name} is ending.` };
  }
  if (terminated !== undefined) return describeEnd(pod);
  if (waiting?.reason !== undefined && IMAGE_REASONS.has(waiting.reason)) {
    const message = `The sandbox image cannot be pulled${where}: ${waiting.message ?? waiting.reason}`;
    return { state: 'stuck', reason: 'ImagePullFailed', message };
  }
  if (waiting?.reason !== undefined && CONFIG_REASONS.has(waiting.reason)) {
    const message = `The container cannot be started${where}: ${waiting.message ?? waiting.reason}`;
    return { state: 'stuck', reason: 'ContainerCannotStart', message };
  }
  const scheduled = find('PodScheduled');
  if (scheduled?.status === 'False' && scheduled.reason === 'Unschedulable') {
    const message = `No node can take the pod: ${scheduled.message ?? 'no reason given'}`;
    return { state: 'stuck', reason: 'Unschedulable', message };
  }
  if (scheduled?.status === 'False' && scheduled.reason === 'SchedulingGated') {
    return {
      state: 'starting',
      reason: 'SchedulingGated',
      message: 'Something else holds the pod back from its node.',
    };
  }
  const ready = find('Ready');
  if (ready?.status === 'True' && status.podIP !== undefined) {
    return { state: 'ready', reason: 'PodReady', message: `Pod ${metadata.name} takes calls.` };
  }
  if (running !== undefined && ready?.status === 'False' && ready.reason !== 'ContainersNotReady') {
    return {
      state: 'unready',
      reason: 'PodNotReady',
      message: `Pod ${metadata.name} on node ${node} does not answer.`,
    };
  }
  return { state: 'starting', reason: 'PodStarting', message: `Pod ${metadata.name} is starting.` };
}

/** Why a process ended, as the node or the kernel saw it. */
function describeEnd({ metadata, spec, status = {} }: Pod): PodState {
  const terminated = status.containerStatuses?.[0]?.state?.terminated;
  const node = spec.nodeName ?? 'none';
  const end = (reason: string, message: string): PodState => ({ state: 'ended', reason, message });
  if (status.reason === 'Evicted') {
    return end('Evicted', `Node ${node} evicted pod ${metadata.name}: ${status.message ?? 'no reason given'}`);
  }
  if (terminated?.reason === 'OOMKilled') {
    return end('OutOfMemory', `Pod ${metadata.name} used more memory than it may and was killed.`);
  }
  if (status.reason !== undefined) {
    return end(
      /^[A-Za-z][A-Za-z0-9]*$/.test(status.reason) ? status.reason : 'PodFailed',
      status.message ?? status.reason,
    );
  }
  const code = terminated?.exitCode === undefined ? '' : ` with exit code ${terminated.exitCode}`;
  return end('PodEnded', `Pod ${metadata.name} ended${code}.`);
}
