import { KEY_ANNOTATION, LABELS } from '../../src/platform/kubernetes/resource.ts';
import { GROW_AT } from '../../src/sandbox/resources/volume.ts';
import type { Volume, VolumePhase, VolumeStatus } from '../../src/sandbox/resources/volume.ts';
import type { Claim, Pod } from '../../src/platform/kubernetes/types.ts';
import { omitUndefined } from '../../src/platform/records.ts';
import type { Finding } from '../runtime/conditions.ts';
import { fingerprint } from '../pod/build.ts';
import { countFailure, decideDelay, pickFailures } from '../pod/failures.ts';
import type { Failures } from '../pod/failures.ts';
import { describePod } from '../pod/state.ts';
import { formatQuantity, parseQuantity } from './quantity.ts';

/** All that a decision on one volume rests on. */
export type VolumeInput = {
  volume: Volume;
  claim: Claim | undefined;
  /** every pod that mounts this very volume */
  pods: Pod[];
  usedBytes: number | undefined;
  now: Date;
};

export type VolumePlan = {
  action:
    | { type: 'none' }
    | { type: 'createClaim' }
    | { type: 'growClaim'; claim: Claim; size: string }
    | { type: 'createStandby'; name: string }
    | { type: 'removePod'; pod: Pod };
  status: Omit<VolumeStatus, 'conditions' | 'observedGeneration'>;
  findings: Finding[];
  requeueMs: number | undefined;
};

/** A class that cannot expand may be exchanged for one that can. */
const REFUSED_MS = 60 * 60_000;

type State = { phase: VolumePhase; reason: string; message: string };

/** First the claim, then its size, then the standby pod; one action a pass. */
export function decideVolume(input: VolumeInput): VolumePlan {
  const { volume, claim, usedBytes, now } = input;
  const { spec, metadata, status } = volume;
  const state = describeClaim(volume, claim);
  const standby = decideStandby(input);
  const capacity = claim?.status?.capacity?.storage;
  const used = usedBytes ?? status?.usedBytes;
  const size = capacity ?? claim?.spec.resources?.requests?.storage ?? spec.initialSize;
  const growth = claim === undefined || state.phase !== 'Ready' ? undefined : decideGrowth(volume, claim, used, now);
  const plan = (action: VolumePlan['action']): VolumePlan => ({
    action,
    status: {
      phase: state.phase,
      ...(claim === undefined ? {} : { claimName: metadata.name }),
      size: formatQuantity(parseQuantity(size)),
      ...(used === undefined ? {} : { used: formatQuantity(used), usedBytes: used }),
      ...standby.status,
      ...standby.failures,
    },
    findings: [
      {
        type: 'Ready',
        status: state.phase === 'Ready' || state.phase === 'Resizing' ? 'True' : 'False',
        ...pickReason(state),
      },
      ...(standby.finding === undefined ? [] : [standby.finding]),
    ],
    requeueMs: standby.requeueMs,
  });
  if (metadata.deletionTimestamp !== undefined) return plan({ type: 'none' });
  if (claim === undefined) return plan({ type: 'createClaim' });
  if (claim.metadata.deletionTimestamp !== undefined || !isClaimOf(claim, volume)) return plan({ type: 'none' });
  if (growth !== undefined) return plan({ type: 'growClaim', claim, size: growth });
  return plan(standby.action);
}

function pickReason({ reason, message }: State): { reason: string; message: string } {
  return { reason, message };
}

export function isClaimOf(claim: Claim, volume: Volume): boolean {
  return claim.metadata.ownerReferences?.some(({ uid }) => uid === volume.metadata.uid) === true;
}

function describeClaim(volume: Volume, claim: Claim | undefined): State {
  const name = volume.metadata.name;
  if (claim === undefined)
    return { phase: 'Pending', reason: 'ClaimPending', message: `Claim ${name} has been asked for.` };
  if (!isClaimOf(claim, volume)) {
    const message = `Claim ${name} belongs to an earlier volume of this name and has to go first.`;
    return { phase: 'Pending', reason: 'EarlierClaim', message };
  }
  if (claim.metadata.deletionTimestamp !== undefined) {
    return {
      phase: 'Failed',
      reason: 'ClaimEnding',
      message: `Somebody deleted claim ${name}; it goes with its last pod.`,
    };
  }
  if (claim.status?.phase === 'Lost') {
    return { phase: 'Failed', reason: 'ClaimLost', message: `The storage behind claim ${name} is gone.` };
  }
  if (claim.status?.phase !== 'Bound') {
    const message = `Claim ${name} has no storage yet; some classes give it to the first pod that asks.`;
    return { phase: 'Pending', reason: 'ClaimPending', message };
  }
  const asked = claim.spec.resources?.requests?.storage;
  const has = claim.status.capacity?.storage;
  if (asked !== undefined && has !== undefined && parseQuantity(asked) > parseQuantity(has)) {
    const told = claim.status.conditions?.find(({ type, status }) => status === 'True' && type !== 'Unused');
    const message = told?.message ?? told?.type ?? 'the storage class is at it';
    return { phase: 'Resizing', reason: 'Growing', message: `The claim grows from ${has} to ${asked}: ${message}.` };
  }
  return { phase: 'Ready', reason: 'ClaimBound', message: `Claim ${name} holds the files.` };
}

/** The next size, by what the claim has and not by what was asked for, so that a growth never sets off another. */
function decideGrowth(volume: Volume, claim: Claim, used: number | undefined, now: Date): string | undefined {
  const has = claim.status?.capacity?.storage;
  if (used === undefined || has === undefined) return undefined;
  const capacity = parseQuantity(has);
  const most = parseQuantity(volume.spec.maxSize);
  if (used <= capacity * GROW_AT || capacity >= most) return undefined;
  const refused = volume.status?.conditions?.find(({ type }) => type === 'Growable');
  const isRecent = refused !== undefined && now.getTime() - Date.parse(refused.lastTransitionTime) < REFUSED_MS;
  return refused?.status === 'False' && isRecent ? undefined : formatQuantity(Math.min(capacity * 2, most));
}

type Standby = {
  action: VolumePlan['action'];
  status: Pick<VolumeStatus, 'podName' | 'podUid' | 'podIP' | 'publicKey'>;
  failures: Failures;
  finding: Finding | undefined;
  requeueMs: number | undefined;
};

function decideStandby({ volume, pods, now }: VolumeInput): Standby {
  const { spec, metadata } = volume;
  const known = pickFailures(volume.status ?? {});
  const aheadMs = spec.standbyUntil === undefined ? 0 : Date.parse(spec.standbyUntil) - now.getTime();
  const [pod] = pods.filter(({ metadata }) => metadata.labels?.[LABELS.sessionUid] === undefined);
  const isServed = pods.some((other) => other !== pod && isAlive(other));
  const isWanted = aheadMs > 0 && !isServed && metadata.deletionTimestamp === undefined;
  const remove =
    pod === undefined || pod.metadata.deletionTimestamp !== undefined
      ? undefined
      : ({ type: 'removePod', pod } as const);
  const answer = (over: Partial<Standby>): Standby => ({
    action: { type: 'none' },
    status: {},
    failures: known,
    finding: undefined,
    requeueMs: aheadMs > 0 ? aheadMs : undefined,
    ...over,
  });
  if (!isWanted) return answer({ action: remove ?? { type: 'none' }, failures: {} });
  if (pod === undefined) {
    const requeueMs = decideDelay(known, now);
    const finding = {
      type: 'Standby',
      status: 'False',
      reason: 'BackOff',
      message: 'Standby pods end at once.',
    } as const;
    if (requeueMs > 0) return answer({ requeueMs, finding });
    return answer({ action: { type: 'createStandby', name: findFreeName(volume, pods) } });
  }
  const state = describePod(pod);
  const key = pod.metadata.annotations?.[KEY_ANNOTATION];
  const finding = {
    type: 'Standby',
    status: state.state === 'ready' ? 'True' : 'False',
    reason: state.reason,
    message: state.message,
  } as const;
  if (state.state === 'ended') {
    return answer({ action: remove ?? { type: 'none' }, failures: countFailure(known, pod, now), finding });
  }
  if (key !== fingerprint(spec.publicKey)) return answer({ action: remove ?? { type: 'none' }, finding });
  const isThere = state.state === 'ready' || state.state === 'starting';
  return answer({
    failures: state.state === 'ready' ? {} : known,
    finding,
    status: {
      podName: pod.metadata.name,
      podUid: pod.metadata.uid,
      ...omitUndefined({ publicKey: key }),
      ...(isThere && pod.status?.podIP !== undefined ? { podIP: pod.status.podIP } : {}),
    },
  });
}

function isAlive(pod: Pod): boolean {
  const { state } = describePod(pod);
  return state === 'ready' || state === 'starting' || state === 'stuck' || state === 'unready';
}

/** Adopted pods keep their name, so the next standby takes the first one that is free. */
function findFreeName({ metadata: { name } }: Volume, pods: Pod[]): string {
  const taken = new Set(pods.map(({ metadata }) => metadata.name));
  for (let number = 0; ; number += 1) {
    const candidate = `${name}-standby-${number}`;
    if (!taken.has(candidate)) return candidate;
  }
}
