import type { Session } from '../resources/session.ts';
import type { Volume } from '../resources/volume.ts';
import { INITIAL_VOLUME_BYTES } from '../volume-size.ts';
import type { PodAddress } from './connections.ts';
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

export function findSessionPod(session: Session | undefined): PodAddress | undefined {
  return session?.metadata.deletionTimestamp === undefined ? readPodAddress(session?.status) : undefined;
}

export function readPodAddress(
  status: { podUid?: string | undefined; podIP?: string | undefined } | undefined,
): PodAddress | undefined {
  const { podUid, podIP } = status ?? {};
  return podUid === undefined || podIP === undefined ? undefined : { podUid, podIP };
}
