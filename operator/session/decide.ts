import { KEY_ANNOTATION } from '../../src/platform/kubernetes/resource.ts';
import type { Session, SessionPhase, SessionStatus } from '../../src/sandbox/resources/session.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import type { Pod } from '../../src/platform/kubernetes/types.ts';
import { omitUndefined } from '../../src/platform/records.ts';
import { fingerprint } from '../pod/build.ts';
import { countFailure, decideDelay, pickFailures } from '../pod/failures.ts';
import { describePod } from '../pod/state.ts';

/** All that a decision on one session rests on. */
export type SessionInput = {
  session: Session;
  volume: Volume | undefined;
  /** pods that belong to this very session, by its UID */
  own: Pod[];
  /** the volume's standby pod, if it can be adopted */
  standby: Pod | undefined;
  /** a pod of an earlier session of the same name */
  inTheWay: Pod | undefined;
  now: Date;
  /** how long a session may be out of use before its pod goes */
  idleMs: number;
};

export type SessionPlan = {
  action:
    | { type: 'none' }
    | { type: 'create'; volume: Volume }
    | { type: 'adopt'; pod: Pod; volume: Volume }
    | { type: 'remove'; pod: Pod };
  phase: SessionPhase;
  /** of the condition Ready, which is True only while Running */
  reason: string;
  message: string;
  /** the pod that the status tells of */
  pod: Pod | undefined;
  failures: ReturnType<typeof pickFailures>;
  /** a pod has ended by itself and is replaced: kept as the condition Restarted, since Events are gone after an hour */
  restart?: { reason: string; message: string };
  requeueMs: number | undefined;
};

/**
 * ```
 *              wanted                    ready
 * Suspended ───────────► (Pending ►) Starting ───────► Running
 *     ▲                                 ▲                 │ ended, evicted, lost
 *     │ pod gone                        └─────────────────┤
 *     └───────────────── Suspending ◄─────────────────────┘ idle or not wanted
 * ```
 *
 * The first line that applies decides.
 */
export function decideSession(input: SessionInput): SessionPlan {
  const { session, volume, standby, inTheWay, now } = input;
  const known = pickFailures(session.status ?? {});
  const idleInMs = measureIdle(input);
  const wanted = session.spec.desiredState === 'Running' && idleInMs > 0 && !isEnding(session);
  const plan: MakePlan = (phase, why, over = {}) => ({
    action: { type: 'none' } as const,
    phase,
    reason: why.reason,
    message: why.message,
    pod: undefined,
    failures: known,
    requeueMs: wanted ? idleInMs : undefined,
    ...over,
  });
  // The one that takes calls first, then the oldest; there should be one at most.
  const [pod, spare] = [...input.own].sort(compareAge);

  // A second pod of one session must not be: the younger one goes.
  if (pod !== undefined && spare !== undefined && !isEnding(spare)) {
    const why = { reason: 'SpareRemoved', message: `Pod ${spare.metadata.name} is one too many.` };
    return plan('Starting', why, { action: { type: 'remove', pod: spare }, pod });
  }
  // A pod of an earlier session of this name goes, and nothing starts before it is gone.
  if (inTheWay !== undefined && (!isEnding(inTheWay) || (wanted && pod === undefined))) {
    const message = `Pod ${inTheWay.metadata.name} belongs to an earlier session of this name and has to go first.`;
    const action = isEnding(inTheWay) ? ({ type: 'none' } as const) : ({ type: 'remove', pod: inTheWay } as const);
    return plan('Pending', { reason: 'EarlierPod', message }, { action });
  }
  // Nobody needs it.
  if (!wanted) {
    const why = explainRest(session, idleInMs);
    if (pod === undefined) return plan('Suspended', why, { failures: {} });
    const action = isEnding(pod) ? ({ type: 'none' } as const) : ({ type: 'remove', pod } as const);
    return plan('Suspending', why, { action, pod });
  }
  if (pod !== undefined) return decideOnPod(plan, pod, input);
  // Files come first.
  if (volume === undefined) {
    const message = `There is no Volume ${session.spec.volumeName} in this namespace.`;
    return plan('Pending', { reason: 'VolumeNotFound', message });
  }
  if (isEnding(volume)) {
    return plan('Pending', { reason: 'VolumeEnding', message: `Volume ${volume.metadata.name} is being deleted.` });
  }
  // Its predecessors ended at once: no hurry.
  const delayMs = decideDelay(known, now);
  if (delayMs > 0) {
    const message = `${known.failures} pods in a row ended before they took calls; the next one starts later.`;
    return plan('Failed', { reason: 'BackOff', message }, { requeueMs: delayMs });
  }
  // One is there already.
  if (standby !== undefined) {
    const state = describePod(standby);
    const phase = state.state === 'ready' ? 'Running' : 'Starting';
    return plan(phase, state, { action: { type: 'adopt', pod: standby, volume }, pod: standby });
  }
  const why = { reason: 'PodStarting', message: 'A pod has been asked for.' };
  return plan('Starting', why, { action: { type: 'create', volume } });
}

type MakePlan = (
  phase: SessionPhase,
  why: { reason: string; message: string },
  over?: Partial<SessionPlan>,
) => SessionPlan;

/** The session is wanted and has a pod. */
function decideOnPod(plan: MakePlan, pod: Pod, { session, volume, now }: SessionInput): SessionPlan {
  const state = describePod(pod);
  const trusted = volume === undefined ? undefined : fingerprint(volume.spec.publicKey);
  const isStale = trusted !== undefined && pod.metadata.annotations?.[KEY_ANNOTATION] !== trusted;
  if (isStale && !isEnding(pod)) {
    const why = { reason: 'KeyChanged', message: `Pod ${pod.metadata.name} trusts a key of the past.` };
    return plan('Pending', why, { action: { type: 'remove', pod }, pod });
  }
  switch (state.state) {
    case 'ready':
      return plan('Running', state, { pod, failures: {} });
    case 'starting':
    case 'unready':
      return plan('Starting', state, { pod });
    case 'stuck':
      return plan(state.reason === 'Unschedulable' ? 'Pending' : 'Failed', state, { pod });
    case 'ending':
    case 'lost':
      return plan('Pending', state, { pod });
    case 'ended': {
      const isNew = !isEnding(pod);
      const action = isNew ? ({ type: 'remove', pod } as const) : ({ type: 'none' } as const);
      const ranWell = session.status?.phase === 'Running' && session.status.podUid === pod.metadata.uid;
      const failures = ranWell ? {} : countFailure(session.status ?? {}, pod, now);
      return plan('Pending', state, { action, pod, failures, ...(isNew ? { restart: state } : {}) });
    }
  }
}

/** Until it has been out of use for too long; negative afterwards. */
function measureIdle({ session, now, idleMs }: SessionInput): number {
  const since = session.spec.lastActivityAt ?? session.metadata.creationTimestamp ?? now.toISOString();
  return Date.parse(since) + idleMs - now.getTime();
}

function explainRest(session: Session, idleInMs: number): { reason: string; message: string } {
  if (isEnding(session)) return { reason: 'SessionEnding', message: 'The session is being deleted.' };
  const { desiredState, lastActivityAt } = session.spec;
  if (desiredState === 'Running' && idleInMs <= 0) {
    return { reason: 'Idle', message: 'Out of use; the next call brings a pod back.' };
  }
  return lastActivityAt === undefined
    ? { reason: 'NotStarted', message: 'No turn has run yet; the first one brings a pod.' }
    : { reason: 'NotWanted', message: 'No pod is wanted.' };
}

export function isEnding({ metadata }: { metadata: { deletionTimestamp?: string } }): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function compareAge(left: Pod, right: Pod): number {
  const isReady = (pod: Pod) => (describePod(pod).state === 'ready' ? 0 : 1);
  const age = ({ metadata }: Pod) => metadata.creationTimestamp ?? '';
  return isReady(left) - isReady(right) || age(left).localeCompare(age(right));
}

/** What the status says after this plan. */
export function buildStatusFields(plan: SessionPlan): SessionStatus {
  const { pod, phase } = plan;
  const key = pod?.metadata.annotations?.[KEY_ANNOTATION];
  const ip = pod?.status?.podIP;
  // Where a pod is on its way out, nobody may call it any more.
  const takesCalls = phase === 'Running' || phase === 'Starting';
  return {
    phase,
    ...(pod === undefined ? {} : { podName: pod.metadata.name, podUid: pod.metadata.uid }),
    ...(ip === undefined || !takesCalls ? {} : { podIP: ip }),
    ...omitUndefined({ nodeName: pod?.spec.nodeName, publicKey: key }),
    ...plan.failures,
  };
}
