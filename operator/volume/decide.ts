import { KEY_ANNOTATION, LABELS, TAKEN_ANNOTATION } from '../../src/platform/kubernetes/resource.ts';
import { GROW_AT, MAX_STANDBY_MS } from '../../src/sandbox/resources/volume.ts';
import type { Volume, VolumePhase, VolumeStatus } from '../../src/sandbox/resources/volume.ts';
import type { Claim, Pod } from '../../src/platform/kubernetes/types.ts';
import { omitUndefined } from '../../src/platform/records.ts';
import { measureElapsed } from '../runtime/clock.ts';
import type { ConditionUpdate } from '../runtime/conditions.ts';
import { earliest } from '../runtime/queue.ts';
import type { Reason } from '../runtime/reasons.ts';
import { fingerprint } from '../pod/build.ts';
import { countFailure, decideDelay, pickFailures } from '../pod/failures.ts';
import type { Failures } from '../pod/failures.ts';
import { isClaimOf } from './claim.ts';
import { decideLoss } from './loss.ts';
import type { Loss, LostClaimPolicy } from './loss.ts';
import { describePod } from '../pod/state.ts';
import { formatQuantity, parseQuantity } from './quantity.ts';

/** The input of a decision on one volume. */
export type VolumeInput = {
  volume: Volume;
  claim: Claim | undefined;
  /** all pods that mount this volume */
  pods: Pod[];
  usedBytes: number | undefined;
  /** why the cluster's storage does not bind the claim, in its own words */
  claimProblem?: string | undefined;
  onLostClaim?: LostClaimPolicy | undefined;
  /** the volume names a SandboxClass that does not exist */
  missingClass?: string | undefined;
  now: Date;
};

export type VolumePlan = {
  action:
    | { type: 'none' }
    | { type: 'createClaim'; disk?: string | undefined; snapshot?: string | undefined }
    | { type: 'growClaim'; claim: Claim; size: string }
    | { type: 'createStandby'; name: string }
    | { type: 'removePod'; pod: Pod };
  status: Omit<VolumeStatus, 'conditions' | 'observedGeneration'>;
  conditions: ConditionUpdate[];
  requeueMs: number | undefined;
};

/** A refused growth is retried after this time: the storage class may allow expansion by then. */
const GROWTH_RETRY_MS = 60 * 60_000;

/** Most claims are bound within this time. */
export const CLAIM_PATIENCE_MS = 2000;
const MAX_RECHECK_MS = 30_000;
/** A claim that does not belong to the volume may have no labels, so that no watch shows its changes. */
const FOREIGN_RECHECK_MS = 5000;
/** A pod from a warm pool is taken for a new volume, whose session comes a moment later. */
const TAKEN_MS = 60_000;

type State = { phase: VolumePhase; reason: Reason; message: string };

/** First the claim, then its size, then the standby pod; one action per reconcile. */
export function decideVolume(input: VolumeInput): VolumePlan {
  const { volume, claim } = input;
  const { disk, lostDisk } = volume.status ?? {};
  const isForeign = claim !== undefined && !isClaimOf(claim, volume);
  const loss: Loss = isForeign ? { disk, lostDisk } : decideLoss(volume, claim, input.onLostClaim ?? 'halt');
  const state = describeState(input, loss);
  const standby = decideStandby(input);
  const isReady = state.phase === 'Ready' || state.phase === 'Resizing';
  const { reason, message } = state;
  const ready: ConditionUpdate = { type: 'Ready', status: isReady ? 'True' : 'False', reason, message };
  return {
    action: decideAction(input, loss, state) ?? standby.action,
    status: {
      phase: state.phase,
      ...omitUndefined({ disk: loss.disk, lostDisk: loss.lostDisk }),
      ...describeSize(input),
      ...standby.status,
      ...standby.failures,
    },
    conditions: [ready, standby.condition, loss.condition].filter((condition) => condition !== undefined),
    requeueMs: earliest(standby.requeueMs, measureRecheck(input))?.requeueMs,
  };
}

/** The next action for the claim; undefined if there is none. */
function decideAction(input: VolumeInput, loss: Loss, { phase }: State): VolumePlan['action'] | undefined {
  const { volume, claim, now } = input;
  if (volume.metadata.deletionTimestamp !== undefined) return { type: 'none' };
  if (claim === undefined) {
    return loss.halt === undefined && input.missingClass === undefined
      ? { type: 'createClaim', ...omitUndefined({ disk: loss.restoreDisk, snapshot: loss.restoreSnapshot }) }
      : { type: 'none' };
  }
  if (claim.metadata.deletionTimestamp !== undefined || !isClaimOf(claim, volume)) return { type: 'none' };
  const used = input.usedBytes ?? volume.status?.usedBytes;
  const size = phase === 'Ready' ? decideGrowth(volume, claim, used, now) : undefined;
  return size === undefined ? undefined : { type: 'growClaim', claim, size };
}

function describeSize({ volume, claim, usedBytes }: VolumeInput) {
  const used = usedBytes ?? volume.status?.usedBytes;
  const size = claim?.status?.capacity?.storage ?? claim?.spec.resources?.requests?.storage ?? volume.spec.initialSize;
  return {
    ...(claim === undefined ? {} : { claimName: claim.metadata.name }),
    size: formatQuantity(parseQuantity(size)),
    ...(used === undefined ? {} : { used: formatQuantity(used), usedBytes: used }),
  };
}

function describeState({ volume, claim, claimProblem, missingClass }: VolumeInput, { halt }: Loss): State {
  if (halt !== undefined) return { phase: 'Failed', ...halt };
  if (claim === undefined && missingClass !== undefined) {
    const message = `There is no SandboxClass ${missingClass} in this namespace.`;
    return { phase: 'Failed', reason: 'ClassNotFound', message };
  }
  const state = describeClaim(volume, claim);
  if (state.reason !== 'ClaimPending' || claimProblem === undefined) return state;
  const message = `Claim ${claim?.metadata.name} gets no storage: ${claimProblem}`;
  return { phase: 'Failed', reason: 'ProvisioningFailed', message };
}

/** If a claim waits longer for storage, the reason is looked up, less and less often. */
function measureRecheck({ volume, claim, now }: VolumeInput): number | undefined {
  if (claim === undefined || claim.status?.phase === 'Lost') return undefined;
  if (!isClaimOf(claim, volume)) return FOREIGN_RECHECK_MS;
  if (claim.status?.phase === 'Bound') return undefined;
  return Math.min(MAX_RECHECK_MS, Math.max(CLAIM_PATIENCE_MS, measureAge(claim, now)));
}

/** Milliseconds since the claim was created. */
export function measureAge({ metadata }: Claim, now: Date): number {
  return now.getTime() - Date.parse(metadata.creationTimestamp ?? now.toISOString());
}

function describeClaim(volume: Volume, claim: Claim | undefined): State {
  if (claim === undefined) {
    const message = `Claim ${volume.metadata.name} has been requested.`;
    return { phase: 'Pending', reason: 'ClaimPending', message };
  }
  const { name } = claim.metadata;
  if (!isClaimOf(claim, volume)) return describeForeign(volume, claim);
  if (claim.metadata.deletionTimestamp !== undefined) {
    const message = `Claim ${name} is being deleted; it is gone when its last pod ends.`;
    return { phase: 'Failed', reason: 'ClaimEnding', message };
  }
  if (claim.status?.phase === 'Lost') {
    return { phase: 'Failed', reason: 'ClaimLost', message: `The storage behind claim ${name} is gone.` };
  }
  if (claim.status?.phase !== 'Bound') {
    const message = `Claim ${name} has no storage yet; some storage classes wait for the first pod.`;
    return { phase: 'Pending', reason: 'ClaimPending', message };
  }
  const requested = claim.spec.resources?.requests?.storage;
  const capacity = claim.status.capacity?.storage;
  if (requested !== undefined && capacity !== undefined && parseQuantity(requested) > parseQuantity(capacity)) {
    const progress = claim.status.conditions?.find(({ type, status }) => status === 'True' && type !== 'Unused');
    const detail = progress?.message ?? progress?.type ?? 'waiting for the storage class';
    const message = `The claim grows from ${capacity} to ${requested}: ${detail}.`;
    return { phase: 'Resizing', reason: 'Growing', message };
  }
  return { phase: 'Ready', reason: 'ClaimBound', message: `Claim ${name} holds the files.` };
}

/** A claim with the name of the volume's, which an earlier volume has left or a person has created. */
export function describeForeign({ metadata: { uid } }: Volume, { metadata }: Claim): State {
  const { name, deletionTimestamp } = metadata;
  const reason = 'EarlierClaim';
  if (deletionTimestamp !== undefined) {
    const message = `Claim ${name} belongs to an earlier volume of this name and is being deleted.`;
    return { phase: 'Pending', reason, message };
  }
  const message =
    `Claim ${name} does not belong to this Volume. Delete the claim, or if it holds the files, make the Volume ` +
    `(UID ${uid}) its owner.`;
  return { phase: 'Failed', reason, message };
}

/** The next size, from the claim's capacity and not from its request, so that a pending growth never starts another. */
function decideGrowth(volume: Volume, claim: Claim, used: number | undefined, now: Date): string | undefined {
  const current = claim.status?.capacity?.storage;
  if (used === undefined || current === undefined) return undefined;
  const capacity = parseQuantity(current);
  const max = parseQuantity(volume.spec.maxSize);
  if (used <= capacity * GROW_AT || capacity >= max) return undefined;
  const refused = volume.status?.conditions?.find(({ type }) => type === 'Growable');
  const isRecent = refused !== undefined && measureElapsed(refused.lastTransitionTime, now) < GROWTH_RETRY_MS;
  return refused?.status === 'False' && isRecent ? undefined : formatQuantity(Math.min(capacity * 2, max));
}

type Standby = {
  action: VolumePlan['action'];
  status: Pick<VolumeStatus, 'podName' | 'podUid' | 'podIP' | 'publicKey'>;
  failures: Failures;
  condition: ConditionUpdate | undefined;
  requeueMs: number | undefined;
};

function decideStandby(input: VolumeInput): Standby {
  const { volume, pods, now } = input;
  const { standbyUntil } = volume.spec;
  const pod = pods.find(({ metadata }) => metadata.labels?.[LABELS.sessionUid] === undefined);
  const takenAt = pod?.metadata.annotations?.[TAKEN_ANNOTATION];
  const wantedMs = standbyUntil === undefined ? 0 : Date.parse(standbyUntil) - now.getTime();
  const takenMs = takenAt === undefined ? 0 : TAKEN_MS - measureElapsed(takenAt, now);
  const remainingMs = Math.max(wantedMs > MAX_STANDBY_MS ? 0 : wantedMs, takenMs);
  const isServed = pods.some((other) => other !== pod && isAlive(other));
  const isRequested = remainingMs > 0 && !isServed && volume.metadata.deletionTimestamp === undefined;
  const idle: Standby = {
    action: { type: 'none' },
    status: {},
    failures: pickFailures(volume.status ?? {}),
    condition: undefined,
    requeueMs: remainingMs > 0 ? remainingMs : undefined,
  };
  if (!isRequested) return { ...idle, action: removeOnce(pod), failures: {} };
  if (pod === undefined && input.missingClass !== undefined) return { ...idle, requeueMs: remainingMs };
  if (pod === undefined) return { ...idle, ...decideStandbyStart(input, idle.failures) };
  return { ...idle, ...decideOnStandby(input, pod, idle.failures) };
}

function decideStandbyStart({ volume, pods, now }: VolumeInput, failures: Failures): Partial<Standby> {
  const delayMs = decideDelay(failures, now);
  if (delayMs === 0) return { action: { type: 'createStandby', name: findFreeName(volume, pods) } };
  const message = 'Standby pods end at once; the next start is delayed.';
  return { requeueMs: delayMs, condition: { type: 'Standby', status: 'False', reason: 'BackOff', message } };
}

function decideOnStandby({ volume, now }: VolumeInput, pod: Pod, failures: Failures): Partial<Standby> {
  const { state, reason, message } = describePod(pod);
  const key = pod.metadata.annotations?.[KEY_ANNOTATION];
  const isReady = state === 'ready';
  const condition: ConditionUpdate = { type: 'Standby', status: isReady ? 'True' : 'False', reason, message };
  if (state === 'ended') return { action: removeOnce(pod), failures: countFailure(failures, pod, now), condition };
  if (key !== fingerprint(volume.spec.publicKey)) return { action: removeOnce(pod), condition };
  const ip = isReady || state === 'starting' ? pod.status?.podIP : undefined;
  return {
    failures: isReady ? {} : failures,
    condition,
    status: {
      podName: pod.metadata.name,
      podUid: pod.metadata.uid,
      publicKey: key,
      ...omitUndefined({ podIP: ip }),
    },
  };
}

function removeOnce(pod: Pod | undefined): VolumePlan['action'] {
  return pod === undefined || pod.metadata.deletionTimestamp !== undefined
    ? { type: 'none' }
    : { type: 'removePod', pod };
}

function isAlive(pod: Pod): boolean {
  const { state } = describePod(pod);
  return state === 'ready' || state === 'starting' || state === 'stuck' || state === 'unready';
}

/** Adopted pods keep their name, so the next standby takes the first free one. */
function findFreeName({ metadata: { name } }: Volume, pods: Pod[]): string {
  const taken = new Set(pods.map(({ metadata }) => metadata.name));
  for (let number = 0; ; number += 1) {
    const candidate = `${name}-standby-${number}`;
    if (!taken.has(candidate)) return candidate;
  }
}
