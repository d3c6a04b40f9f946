import { LABELS } from '../../src/platform/kubernetes/resource.ts';
import type { Session } from '../../src/sandbox/resources/session.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import { SAFE_TO_EVICT_ANNOTATION, buildOwner, buildPod } from '../pod/build.ts';
import type { PodOptions } from '../pod/build.ts';

const labels = ({ metadata: { name, uid } }: Session) => ({ [LABELS.session]: name, [LABELS.sessionUid]: uid });

/** The pod has the session's name, so a second one cannot be created. */
export function buildSessionPod(session: Session, volume: Volume, claimName: string, options: PodOptions) {
  return buildPod(volume, claimName, options, {
    name: session.metadata.name,
    owner: buildOwner('Session', session.metadata),
    labels: labels(session),
  });
}

/** The patch that makes a standby pod the session's: it is then deleted with the session, not with the volume. */
export function buildAdoption(session: Session): object {
  const annotations = { [SAFE_TO_EVICT_ANNOTATION]: null };
  return {
    metadata: { labels: labels(session), annotations, ownerReferences: [buildOwner('Session', session.metadata)] },
  };
}
