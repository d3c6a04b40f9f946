// Tests: test/operator/warm.test.ts, test/cluster/warm-pool.test.ts
import { TEMPLATE_ANNOTATION } from '../../src/platform/kubernetes/resource.ts';
import type { Claim, Pod } from '../../src/platform/kubernetes/types.ts';
import { describePod } from '../pod/state.ts';
import type { ConditionUpdate } from '../runtime/conditions.ts';

/** The input of a decision on the warm pool of one class. */
export type WarmInput = {
  /** pods that the pool should have */
  target: number;
  /** the pods of the pool that no volume has taken, nor is taking */
  pods: Pod[];
  findClaim: (podName: string) => Claim | undefined;
  /** fingerprint of the current template; undefined: no key is known yet */
  template: string | undefined;
  now: Date;
};

export type WarmPlan = {
  /** number of pods to create */
  create: number;
  /** pods whose claim is to be created */
  claimless: Pod[];
  remove: Pod[];
  pods: number;
  ready: number;
  condition: ConditionUpdate;
};

const MAX_CREATED = 10;
/** A pod that ended keeps its place for this long, so that failing pods are replaced slowly. */
const ENDED_MS = 30_000;
/** A new pod cannot be scheduled until its claim exists, a moment later. */
const SETTLE_MS = 10_000;

/** A pod is replaced when its template changed, when it ended, and when a volume took its claim alone. */
export function decideWarmPool(input: WarmInput): WarmPlan {
  const { target, findClaim, template, now } = input;
  const present = input.pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const isCurrent = (pod: Pod): boolean =>
    (template === undefined || pod.metadata.annotations?.[TEMPLATE_ANNOTATION] === template) &&
    ownsClaim(pod, findClaim(pod.metadata.name));
  const current = present.filter(isCurrent);
  const ended = current.filter((pod) => describePod(pod).state === 'ended');
  const alive = current.filter((pod) => !ended.includes(pod)).sort(compareUse);
  const kept = alive.slice(0, target);
  const expired = ended.filter((pod) => measureAge(pod, now) >= ENDED_MS);
  const recent = ended.length - expired.length;
  const ready = kept.filter(isReady).length;
  return {
    create: template === undefined ? 0 : Math.min(MAX_CREATED, Math.max(0, target - kept.length - recent)),
    claimless: kept.filter(({ metadata }) => findClaim(metadata.name) === undefined),
    remove: [...present.filter((pod) => !isCurrent(pod)), ...alive.slice(target), ...expired],
    pods: kept.length,
    ready,
    condition: describePool(input, kept, ready),
  };
}

/** True as well while the claim does not exist yet. */
function ownsClaim({ metadata }: Pod, claim: Claim | undefined): boolean {
  return claim === undefined || claim.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid) === true;
}

function measureAge({ metadata }: Pod, now: Date): number {
  return now.getTime() - Date.parse(metadata.creationTimestamp ?? now.toISOString());
}

export function isReady(pod: Pod): boolean {
  return describePod(pod).state === 'ready';
}

/** Ready pods first, then the oldest. */
function compareUse(left: Pod, right: Pod): number {
  const age = ({ metadata }: Pod) => metadata.creationTimestamp ?? '';
  return Number(isReady(right)) - Number(isReady(left)) || age(left).localeCompare(age(right));
}

function describePool({ target, template, now }: WarmInput, kept: Pod[], ready: number): ConditionUpdate {
  if (target > 0 && template === undefined) {
    const message = 'No Volume exists yet: the first one tells which key the pods have to trust.';
    return { type: 'Warm', status: 'False', reason: 'KeyUnknown', message };
  }
  const settled = kept.filter((pod) => measureAge(pod, now) >= SETTLE_MS);
  const stuck = settled.map(describePod).find(({ state }) => state === 'stuck');
  if (stuck !== undefined) return { type: 'Warm', status: 'False', reason: stuck.reason, message: stuck.message };
  const isComplete = ready >= target;
  return {
    type: 'Warm',
    status: isComplete ? 'True' : 'False',
    reason: isComplete ? 'WarmReady' : 'WarmStarting',
    message: `${ready} of ${target} pods are ready.`,
  };
}
