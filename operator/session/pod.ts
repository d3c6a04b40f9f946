import { LABELS } from '../../src/platform/kubernetes/resource.ts';
import type { Session } from '../../src/sandbox/resources/session.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import type { Pod } from '../../src/platform/kubernetes/types.ts';
import { buildOwner, buildPod } from '../pod/build.ts';
import type { PodOptions } from '../pod/build.ts';

const labels = ({ metadata: { name, uid } }: Session) => ({ [LABELS.session]: name, [LABELS.sessionUid]: uid });

/** A session has one name for its pod, so that two can never be made. */
export function buildSessionPod(session: Session, volume: Volume, options: PodOptions) {
  return buildPod(volume, options, {
    name: session.metadata.name,
    owner: buildOwner('Session', session.metadata),
    labels: labels(session),
  });
}

/** What makes a standby pod the session's: from then on it goes with the session, not with the volume. */
export function buildAdoption(session: Session): object {
  return { metadata: { labels: labels(session), ownerReferences: [buildOwner('Session', session.metadata)] } };
}

/** By the owner's UID alone: names come again, labels can be set by others. */
export function isOwnedBy(pod: Pod, uid: string): boolean {
  return pod.metadata.ownerReferences?.some((owner) => owner.controller === true && owner.uid === uid) === true;
}
