import { errorText } from '../../platform/errors.ts';
import { hasStatus } from '../../platform/kubernetes/client.ts';
import { SandboxCapacityError, SandboxError, SandboxRefusedError } from '../sandbox.ts';
import type { Condition } from '../../platform/kubernetes/resource.ts';
import type { Session } from '../resources/session.ts';
import type { Volume } from '../resources/volume.ts';
import { INITIAL_VOLUME_BYTES } from '../volume-size.ts';
import type { PodAddress } from './connections.ts';
import type { Resources } from './resources.ts';
import { readSize } from './usage.ts';
import type { VolumeInfo } from '../sandbox.ts';

/** `usedBytes` is the executor's own count; undefined: use the one in the status. */
export function buildVolumeInfo({ status, metadata }: Volume, usedBytes: number | undefined): VolumeInfo {
  const createdAt = new Date(metadata.creationTimestamp ?? 0);
  const changes = status?.conditions?.map(({ lastTransitionTime }) => Date.parse(lastTransitionTime)) ?? [];
  return {
    status: status?.phase === 'Ready' ? 'ready' : status?.phase === 'Failed' ? 'unavailable' : 'warming',
    sizeBytes: readSize(status?.size) ?? INITIAL_VOLUME_BYTES,
    usedBytes: usedBytes ?? status?.usedBytes ?? 0,
    createdAt,
    updatedAt: new Date(Math.max(createdAt.getTime(), ...changes)),
  };
}

/** A refused sandbox may still start within this time, for example when another one has just ended. */
const REFUSED_MS = 1500;

/** Reasons of conditions that say: the cluster refused a pod or its storage, and a caller who waits does not help. */
const REFUSED = new Set([
  'QuotaExceeded',
  'PodRefused',
  'ClaimRefused',
  'ProvisioningFailed',
  'FilesLost',
  'VolumeFailed',
  'VolumeMismatch',
  'ClassNotFound',
]);

/** Why the operator cannot start what this object requests in its present generation; undefined when it has not failed. */
function findRefusal(object: Session | Volume | undefined): Condition | undefined {
  const conditions = object?.status?.conditions ?? [];
  const generation = object?.metadata.generation ?? 0;
  return conditions.find(
    ({ type, status, reason, observedGeneration = 0 }) =>
      (type === 'Ready' || type === 'Standby') &&
      status === 'False' &&
      REFUSED.has(reason) &&
      observedGeneration >= generation,
  );
}

/** Throws `SandboxRefusedError` for a caller who has waited since `sinceMs`. */
export function assertNotRefused(object: Session | Volume | undefined, sinceMs: number): void {
  const refusal = Date.now() - sinceMs < REFUSED_MS ? undefined : findRefusal(object);
  if (refusal !== undefined) throw buildRefusal(refusal);
}

function buildRefusal({ message, reason }: Condition): SandboxRefusedError {
  const text = `the sandbox did not start: ${message.replace(/\.$/, '')}`;
  // Of a volume that has failed, only the message says why.
  const isShort = reason === 'QuotaExceeded' || reason === 'Unschedulable' || message.includes('exceeded quota');
  return isShort ? new SandboxCapacityError(text) : new SandboxRefusedError(text);
}

export const UNREACHABLE = 'the API server of Kubernetes does not respond';

/** Why nothing serves the volume's files after a wait; nodes may be added, so one that is missing is no refusal before. */
export function describeUnserved(volume: Volume | undefined, failure: unknown): SandboxError {
  const standby = volume?.status?.conditions?.find(({ type }) => type === 'Standby');
  if (standby?.status === 'False' && standby.reason === 'Unschedulable') return buildRefusal(standby);
  return new SandboxError(failure === undefined ? 'the sandbox is still warming up' : UNREACHABLE, { cause: failure });
}

/** The message of the condition Ready, to be part of a sentence. */
export function readMessage({ status }: Session): string | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready')?.message.replace(/\.$/, '');
}

/** An error of the API server that the caller of a sandbox should read: it refuses, for a quota or by admission. */
export function describeStartError(error: unknown): unknown {
  if (!hasStatus(error, 400, 403, 422)) return error;
  const message = `the sandbox did not start: ${errorText(error)}`;
  const isQuota = message.includes('exceeded quota');
  return isQuota
    ? new SandboxCapacityError(message, { cause: error })
    : new SandboxRefusedError(message, { cause: error });
}

export function findSessionPod(session: Session | undefined): PodAddress | undefined {
  return session?.metadata.deletionTimestamp === undefined ? readPodAddress(session?.status) : undefined;
}

function readPodAddress(
  status: { podUid?: string | undefined; podIP?: string | undefined } | undefined,
): PodAddress | undefined {
  const { podUid, podIP } = status ?? {};
  return podUid === undefined || podIP === undefined ? undefined : { podUid, podIP };
}

/** A pod that mounts the volume: a session's, otherwise the standby. */
export function findServingPod(
  { sessions, volumes }: Pick<Resources, 'sessions' | 'volumes'>,
  volumeName: string,
): PodAddress | undefined {
  const addresses = sessions.find('volume', volumeName).flatMap((session) => findSessionPod(session) ?? []);
  return addresses[0] ?? readPodAddress(volumes.get(volumeName)?.status);
}
