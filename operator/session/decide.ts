// Tests: test/cluster/operator.test.ts, test/cluster/operator-failures.test.ts
import { KEY_ANNOTATION } from '../../src/platform/kubernetes/resource.ts';
import type { Session, SessionPhase, SessionStatus } from '../../src/sandbox/resources/session.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import type { Pod } from '../../src/platform/kubernetes/types.ts';
import { omitUndefined } from '../../src/platform/records.ts';
import { fingerprint } from '../pod/build.ts';
import { countFailure, decideDelay, pickFailures } from '../pod/failures.ts';
import { describePod } from '../pod/state.ts';
import type { PodState } from '../pod/state.ts';
import { MAX_AHEAD_MS } from '../runtime/clock.ts';
import type { Reason } from '../runtime/reasons.ts';

/** The input of a decision on one session. */
export type SessionInput = {
  session: Session;
  volume: Volume | undefined;
  /** pods whose owner is this session, by its UID */
  ownedPods: Pod[];
  /** the volume's standby pod, if the session can adopt it */
  standby: Pod | undefined;
  /** the session names a SandboxClass that does not exist */
  missingClass?: string | undefined;
  /** the claim that a pod would mount, where it does not belong to the volume */
  foreignClaim?: string | undefined;
  /** the volume may take a pod of a warm pool with its claim, which does not exist yet */
  waitsForClaim?: boolean;
  /** a pod with the session's name or label that another session owns, usually an earlier one of the same name */
  foreignPod: Pod | undefined;
  now: Date;
  /** how long a session may be idle before its pod is removed */
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
  reason: Reason;
  message: string;
  /** the pod that the status names */
  pod: Pod | undefined;
  failures: ReturnType<typeof pickFailures>;
  /** see the status field */
  futureActivity: SessionStatus['futureActivity'];
  /** a pod that ended is replaced; kept as the condition Restarted, since Events expire after an hour */
  restart?: Cause;
  requeueMs: number | undefined;
};

/** Until the claim of a volume is looked for again if no event comes. */
const CLAIM_MS = 1000;

type Cause = { reason: Reason; message: string };

/**
 * ```
 *             requested                  ready
 * Suspended ───────────► (Pending ►) Starting ───────► Running
 *     ▲                                 ▲                 │ ended, evicted, lost
 *     │ pod gone                        └─────────────────┤
 *     └───────────────── Suspending ◄─────────────────────┘ idle or not requested
 * ```
 *
 * The first rule that applies decides.
 */
export function decideSession(input: SessionInput): SessionPlan {
  const { session } = input;
  const idleInMs = measureIdle(input);
  const isRequested = session.spec.desiredState === 'Running' && idleInMs > 0 && !isEnding(session);
  const plan: MakePlan = (phase, cause, over = {}) => ({
    action: { type: 'none' },
    phase,
    reason: cause.reason,
    message: cause.message,
    pod: undefined,
    failures: pickFailures(session.status ?? {}),
    futureActivity: decideFutureActivity(input),
    requeueMs: isRequested ? idleInMs : undefined,
    ...over,
  });
  // Ready pods first, then the oldest; there should be at most one.
  const [pod, duplicate] = [...input.ownedPods].sort(compareAge);

  // A session must not have two pods: the younger one is removed.
  if (pod !== undefined && duplicate !== undefined && !isEnding(duplicate)) {
    const message = `Pod ${duplicate.metadata.name} is a duplicate.`;
    return plan('Starting', { reason: 'SpareRemoved', message }, { action: { type: 'remove', pod: duplicate }, pod });
  }
  const blocked = decideOnForeignPod(plan, input.foreignPod, isRequested && pod === undefined);
  if (blocked !== undefined) return blocked;
  const mismatch = findMismatch(session, input.volume);
  if (mismatch !== undefined) {
    return plan('Failed', mismatch, pod === undefined ? {} : { action: removeOnce(pod), pod });
  }
  if (!isRequested) return decideSuspension(plan, pod, explainSuspension(session, idleInMs));
  return pod === undefined ? decideStart(plan, input) : decideOnPod(plan, pod, input);
}

type MakePlan = (phase: SessionPhase, cause: Cause, over?: Partial<SessionPlan>) => SessionPlan;

/** A pod of an earlier session of this name is removed, and nothing starts before it is gone. */
function decideOnForeignPod(plan: MakePlan, foreignPod: Pod | undefined, needsPod: boolean): SessionPlan | undefined {
  if (foreignPod === undefined || (isEnding(foreignPod) && !needsPod)) return undefined;
  const message = `Pod ${foreignPod.metadata.name} belongs to an earlier session of this name and must end first.`;
  return plan('Pending', { reason: 'EarlierPod', message }, { action: removeOnce(foreignPod) });
}

function decideSuspension(plan: MakePlan, pod: Pod | undefined, cause: Cause): SessionPlan {
  if (pod === undefined) return plan('Suspended', cause, { failures: {} });
  return plan('Suspending', cause, { action: removeOnce(pod), pod });
}

/** The session needs a pod and has none. */
function decideStart(plan: MakePlan, input: SessionInput): SessionPlan {
  const { session, volume, standby, missingClass, now } = input;
  if (volume === undefined) {
    const message = `There is no Volume ${session.spec.volumeName} in this namespace.`;
    return plan('Pending', { reason: 'VolumeNotFound', message });
  }
  if (isEnding(volume)) {
    return plan('Pending', { reason: 'VolumeEnding', message: `Volume ${volume.metadata.name} is being deleted.` });
  }
  const failure = explainVolume(volume);
  if (failure !== undefined) return plan('Failed', failure);
  if (missingClass !== undefined) {
    const message = `There is no SandboxClass ${missingClass} in this namespace.`;
    return plan('Failed', { reason: 'ClassNotFound', message });
  }
  if (input.foreignClaim !== undefined) {
    const message = `Claim ${input.foreignClaim} does not belong to volume ${volume.metadata.name}; see there.`;
    return plan('Pending', { reason: 'EarlierClaim', message }, { requeueMs: CLAIM_MS });
  }
  const failures = pickFailures(session.status ?? {});
  const delayMs = decideDelay(failures, now);
  if (delayMs > 0) {
    const message = `${failures.failures} pods in a row ended before they accepted calls; the next start is delayed.`;
    return plan('Failed', { reason: 'BackOff', message }, { requeueMs: delayMs });
  }
  if (standby !== undefined) {
    const state = describePod(standby);
    const phase = state.state === 'ready' ? 'Running' : 'Starting';
    return plan(phase, state, { action: { type: 'adopt', pod: standby, volume }, pod: standby });
  }
  const cause = { reason: 'PodStarting', message: 'A pod has been requested.' } as const;
  if (input.waitsForClaim === true) return plan('Starting', cause, { requeueMs: CLAIM_MS });
  return plan('Starting', cause, { action: { type: 'create', volume } });
}

/** The session needs a pod and has one. */
function decideOnPod(plan: MakePlan, pod: Pod, { session, volume, now }: SessionInput): SessionPlan {
  const state = describePod(pod);
  if (isStale(pod, volume) && !isEnding(pod)) {
    const cause = { reason: 'KeyChanged', message: `Pod ${pod.metadata.name} trusts a former key.` } as const;
    return plan('Pending', cause, { action: { type: 'remove', pod }, pod });
  }
  const failure = explainVolume(volume, state);
  if (failure !== undefined) return plan('Failed', failure, { pod });
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
      const wasRunning = session.status?.phase === 'Running' && session.status.podUid === pod.metadata.uid;
      const failures = wasRunning ? {} : countFailure(session.status ?? {}, pod, now);
      const restart = isEnding(pod) ? {} : { restart: state };
      return plan('Pending', state, { action: removeOnce(pod), pod, failures, ...restart });
    }
  }
}

/** A session gets only the files of its own organization, agent and subject, whatever volume it names. */
function findMismatch({ spec }: Session, volume: Volume | undefined): Cause | undefined {
  const fields = ['organizationId', 'agentId', 'subjectId'] as const;
  const differing = volume === undefined ? [] : fields.filter((field) => spec[field] !== volume.spec[field]);
  if (differing.length === 0) return undefined;
  const message = `Volume ${spec.volumeName} belongs to somebody else: ${differing.join(', ')} differ.`;
  return { reason: 'VolumeMismatch', message };
}

/** The pod trusts a former key. */
function isStale({ metadata }: Pod, volume: Volume | undefined): boolean {
  return volume !== undefined && metadata.annotations?.[KEY_ANNOTATION] !== fingerprint(volume.spec.publicKey);
}

/**
 * Why the volume cannot be mounted, by no pod or by a pod of this state; undefined unless the volume is known to have
 * failed.
 */
function explainVolume(volume: Volume | undefined, pod?: PodState): Cause | undefined {
  if (volume?.status?.phase !== 'Failed') return undefined;
  if (pod !== undefined && pod.state !== 'starting' && pod.reason !== 'Unschedulable') return undefined;
  const ready = volume.status.conditions?.find(({ type }) => type === 'Ready');
  const message = `Volume ${volume.metadata.name} has failed: ${ready?.message ?? 'no reason given'}`;
  return { reason: 'VolumeFailed', message };
}

function removeOnce(pod: Pod): SessionPlan['action'] {
  return isEnding(pod) ? { type: 'none' } : { type: 'remove', pod };
}

/**
 * A time of activity in the future counts from when the operator first saw it, so that a wrong clock does not keep a
 * pod for ever. Undefined for any other time.
 */
function decideFutureActivity({ session, now }: SessionInput): SessionStatus['futureActivity'] {
  const { lastActivityAt } = session.spec;
  const known = session.status?.futureActivity;
  if (lastActivityAt === undefined) return undefined;
  if (known?.lastActivityAt === lastActivityAt) return known;
  const isAhead = Date.parse(lastActivityAt) > now.getTime() + MAX_AHEAD_MS;
  return isAhead ? { lastActivityAt, seenAt: now.toISOString() } : undefined;
}

/** Milliseconds until the session counts as idle; negative afterwards. */
function measureIdle(input: SessionInput): number {
  const { session, now, idleMs } = input;
  const { lastActivityAt } = session.spec;
  const active = decideFutureActivity(input)?.seenAt ?? lastActivityAt ?? session.metadata.creationTimestamp;
  return Date.parse(active ?? now.toISOString()) + idleMs - now.getTime();
}

function explainSuspension(session: Session, idleInMs: number): Cause {
  if (isEnding(session)) return { reason: 'SessionEnding', message: 'The session is being deleted.' };
  const { desiredState, lastActivityAt } = session.spec;
  if (desiredState === 'Running' && idleInMs <= 0) {
    return { reason: 'Idle', message: 'Idle; the next call starts a pod.' };
  }
  return lastActivityAt === undefined
    ? { reason: 'NotStarted', message: 'No turn has run yet; the first one starts a pod.' }
    : { reason: 'NotWanted', message: 'No pod is requested.' };
}

export function isEnding({ metadata }: { metadata: { deletionTimestamp?: string } }): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function compareAge(left: Pod, right: Pod): number {
  const rank = (pod: Pod) => (describePod(pod).state === 'ready' ? 0 : 1);
  const age = ({ metadata }: Pod) => metadata.creationTimestamp ?? '';
  return rank(left) - rank(right) || age(left).localeCompare(age(right));
}

/** The status after this plan, without its conditions. */
export function buildStatusFields(plan: SessionPlan): SessionStatus {
  const { pod, phase } = plan;
  const key = pod?.metadata.annotations?.[KEY_ANNOTATION];
  const ip = pod?.status?.podIP;
  // A pod that is being removed accepts no calls.
  const acceptsCalls = phase === 'Running' || phase === 'Starting';
  return {
    phase,
    ...(pod === undefined ? {} : { podName: pod.metadata.name, podUid: pod.metadata.uid }),
    ...(ip === undefined || !acceptsCalls ? {} : { podIP: ip }),
    ...omitUndefined({ nodeName: pod?.spec.nodeName, publicKey: key, futureActivity: plan.futureActivity }),
    ...plan.failures,
  };
}
