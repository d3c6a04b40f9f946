import type { Session, SessionPhase } from '../resources/session.ts';
import type { SandboxInfo } from '../sandbox.ts';
import type { Resources } from './resources.ts';
import { buildVolumeInfo, readMessage } from './status.ts';

const PHASES: Readonly<Record<SessionPhase, SandboxInfo['phase'] | undefined>> = {
  Pending: 'starting',
  Starting: 'starting',
  Running: 'running',
  Suspending: 'stopping',
  Suspended: undefined,
  Failed: 'failed',
};

/** A session that is suspended, or that no pod is wanted for, has no sandbox. */
function findPhase({ spec, status, metadata }: Session): SandboxInfo['phase'] | undefined {
  if (metadata.deletionTimestamp !== undefined) return status?.podName === undefined ? undefined : 'stopping';
  if (spec.desiredState !== 'Running' && status?.podName === undefined) return undefined;
  return PHASES[status?.phase ?? 'Pending'];
}

export function listSandboxes(
  { sessions, volumes }: Pick<Resources, 'sessions' | 'volumes'>,
  organizationId: string,
): SandboxInfo[] {
  return sessions.find('organization', organizationId).flatMap((session) => {
    const phase = findPhase(session);
    if (phase === undefined) return [];
    const { agentId, subjectId, sessionId, volumeName } = session.spec;
    const ready = session.status?.conditions?.find(({ type, status }) => type === 'Ready' && status === 'True');
    const volume = volumes.get(volumeName);
    return {
      agentId,
      subjectId,
      sessionId,
      phase,
      reason: phase === 'running' ? undefined : readMessage(session),
      node: session.status?.nodeName,
      pod: session.status?.podName,
      startedAt: ready === undefined ? undefined : new Date(ready.lastTransitionTime),
      volume: volume === undefined ? undefined : buildVolumeInfo(volume, undefined),
    };
  });
}
