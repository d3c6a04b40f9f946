import { LABELS } from '../../src/platform/kubernetes/resource.ts';
import type { SandboxClass } from '../../src/sandbox/resources/sandbox-class.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import { hasStatus } from '../../src/platform/kubernetes/client.ts';
import { buildListPath, buildPath } from '../../src/platform/kubernetes/paths.ts';
import { stripClaim } from '../../src/platform/kubernetes/types.ts';
import type { Claim } from '../../src/platform/kubernetes/types.ts';
import { errorText } from '../../src/platform/errors.ts';
import { SAFE_TO_EVICT_ANNOTATION, buildOwner, buildPod } from '../pod/build.ts';
import { applyClass, applyVolumeClass } from '../pod/sandbox-class.ts';
import type { ConditionUpdate } from '../runtime/conditions.ts';
import type { Controller } from '../runtime/controller.ts';
import { RECHECK_MS } from '../runtime/expectations.ts';
import { describeRefusal } from '../runtime/refusals.ts';
import { earliest } from '../runtime/queue.ts';
import type { Outcome } from '../runtime/queue.ts';
import { reportStatus } from '../runtime/status.ts';
import { resourceKey } from '../runtime/writer.ts';
import { pickBackupPolicy } from './backup-policy.ts';
import { isTaking, listTakenKeys, takeWarm } from '../warm/take.ts';
import { backUp, findRestorable } from './backup.ts';
import { buildClaimLabels, buildVolumeClaim, findClaim, isClaimOf, pickStorageClass } from './claim.ts';
import { parseQuantity } from './quantity.ts';
import { CLAIM_PATIENCE_MS, decideVolume, describeForeign, measureAge } from './decide.ts';
import type { VolumePlan } from './decide.ts';

/** Until a snapshot that is missing or not ready is looked for again. */
const SNAPSHOT_RETRY_MS = 5000;
/** Until a claim that does not belong to the volume is looked at again; the cache may not have it. */
const FOREIGN_RETRY_MS = 5000;

type Target = { volume: Volume; sandboxClass: SandboxClass | undefined; claim: Claim | undefined };

/** Brings one volume's claim and standby pod to what its spec requests: gather, decide, act. */
export async function reconcileVolume(controller: Controller, name: string): Promise<Outcome> {
  const { caches, expectations, usage } = controller;
  const known = caches.volumes.get(name);
  // Its claim and pods have it as their owner, so the cluster collects them.
  if (known === undefined) {
    controller.deferredStatus.delete(resourceKey('volumes', name));
    controller.refusals.forget(resourceKey('volumes', name));
    controller.backups.running.delete(name);
    controller.warm.taken.delete(name);
    return undefined;
  }
  const { sandboxClass: className = '' } = known.spec;
  const sandboxClass = caches.classes.get(className);
  const volume = applyVolumeClass(known, sandboxClass);
  const pods = caches.pods
    .find('volume', name)
    .filter(({ metadata }) => metadata.labels?.[LABELS.volumeUid] === volume.metadata.uid);
  const key = resourceKey('volumes', name);
  const keys = [
    key,
    resourceKey('persistentvolumeclaims', name),
    resourceKey('pods', `${name}-standby-0`),
    ...listTakenKeys(controller, name),
    ...pods.map(({ metadata }) => resourceKey('pods', metadata.name)),
  ];
  // The cache is older than our last write, whose watch event will enqueue this volume again.
  if (!expectations.areMet(keys, key)) return { requeueMs: RECHECK_MS };
  const now = new Date();
  const usedBytes = usage.get(volume.metadata.uid);
  const claim = findClaim(caches, volume) ?? (await findUnlabelledClaim(controller, volume));
  if (claim !== undefined && !isTaking(controller, name)) controller.warm.taken.delete(name);
  const claimProblem = claim === undefined ? undefined : await findClaimProblem(controller, claim, now);
  const { onLostClaim } = controller.options;
  const missingClass = sandboxClass === undefined ? known.spec.sandboxClass : undefined;
  const input = { volume, claim, pods, usedBytes, claimProblem, onLostClaim, missingClass, now };
  return act(controller, { volume, sandboxClass, claim }, decideVolume(input), now);
}

/**
 * The claim of a volume that had one, read from the API server: the cache is not reliable enough to report lost files.
 * It misses a claim whose label was removed; the label is restored here.
 */
async function findUnlabelledClaim(controller: Controller, volume: Volume) {
  if (volume.status?.disk === undefined) return undefined;
  const { name, uid } = volume.metadata;
  const claim = await readClaim(controller, volume);
  if (claim === undefined || !isClaimOf(claim, volume)) return claim;
  await controller.writer.patch('persistentvolumeclaims', claim, { metadata: { labels: buildClaimLabels(name, uid) } });
  return claim;
}

async function readClaim({ kubernetes, namespace }: Controller, { metadata, status }: Volume) {
  const path = buildPath(namespace, 'persistentvolumeclaims', status?.claimName ?? metadata.name);
  try {
    return stripClaim(await kubernetes.request<Claim>({ method: 'GET', path }));
  } catch (error) {
    if (hasStatus(error, 404)) return undefined;
    throw error;
  }
}

/** Reasons of Events that say why a claim gets no storage: no such class, no default class, the provisioner failed. */
const PROBLEMS = new Set(['ProvisioningFailed', 'FailedBinding']);

/** Kubernetes reports only by Events why a claim stays pending. */
async function findClaimProblem(
  { kubernetes, namespace }: Controller,
  claim: Claim,
  now: Date,
): Promise<string | undefined> {
  const { phase = 'Pending' } = claim.status ?? {};
  if (phase !== 'Pending' || measureAge(claim, now) < CLAIM_PATIENCE_MS) return undefined;
  type List = { items: { reason?: string; message?: string; lastTimestamp?: string | null }[] };
  const query = { fieldSelector: `involvedObject.uid=${claim.metadata.uid}`, limit: '100' };
  const path = buildListPath(namespace, 'events');
  const { items } = await kubernetes.request<List>({ method: 'GET', path, query });
  const problems = items.filter(({ reason }) => PROBLEMS.has(reason ?? ''));
  problems.sort((left, right) => (left.lastTimestamp ?? '').localeCompare(right.lastTimestamp ?? ''));
  return problems.at(-1)?.message;
}

async function act(controller: Controller, target: Target, decided: VolumePlan, now: Date): Promise<Outcome> {
  const { volume } = target;
  const plan = await perform(controller, target, decided);
  const backup = await backUp(
    controller,
    target,
    pickBackupPolicy(controller.options.backup, target.sandboxClass),
    now,
  );
  const deferredMs = await reportStatus(controller, {
    kind: 'Volume',
    plural: 'volumes',
    object: volume,
    fields: { ...plan.status, ...backup.status },
    conditions: backup.condition === undefined ? plan.conditions : [...plan.conditions, backup.condition],
    now,
    // Most claims are bound within a second; some storage classes wait for the first pod.
    isTransient: plan.conditions.some(({ type, reason }) => type === 'Ready' && reason === 'ClaimPending'),
  });
  return earliest(earliest(plan.requeueMs, backup.requeueMs)?.requeueMs, deferredMs);
}

/** Returns the plan, updated with the result of a growth and with refusals of the API server. */
async function perform(
  controller: Controller,
  { volume, sandboxClass, claim }: Target,
  plan: VolumePlan,
): Promise<VolumePlan> {
  const { writer, options } = controller;
  const { action } = plan;
  switch (action.type) {
    case 'none':
      return plan;
    case 'createClaim': {
      if (await takeWarm(controller, { volume, sandboxClass }, action)) return plan;
      const refusal = await createClaim(controller, { volume, sandboxClass }, action);
      if (refusal === undefined) return plan;
      const { reason, message } = refusal;
      const refused = update(plan, { type: 'Ready', status: 'False', reason, message });
      return {
        ...refused,
        status: { ...plan.status, phase: 'Failed' },
        ...earliest(plan.requeueMs, refusal.requeueMs),
      };
    }
    case 'growClaim':
      return update(plan, await grow(controller, action));
    case 'createStandby': {
      const owner = buildOwner('Volume', volume.metadata);
      const identity = { name: action.name, owner, labels: {}, annotations: { [SAFE_TO_EVICT_ANNOTATION]: 'true' } };
      const body = buildPod(
        volume,
        claim?.metadata.name ?? volume.metadata.name,
        applyClass(options.pod, sandboxClass),
        identity,
      );
      const refusal = await create(controller, volume, { plural: 'pods', body });
      if (refusal === undefined) return plan;
      const { reason, message } = refusal;
      const refused = update(plan, { type: 'Standby', status: 'False', reason, message });
      return { ...refused, ...earliest(plan.requeueMs, refusal.requeueMs) };
    }
    case 'removePod':
      // Fails if a session has adopted the pod since it was read.
      await writer.remove('pods', action.pod);
      return plan;
  }
}

/** An empty claim, one on a disk that exists, or one that is restored from a snapshot. Returns a refusal. */
async function createClaim(
  controller: Controller,
  { volume, sandboxClass }: Pick<Target, 'volume' | 'sandboxClass'>,
  { disk, snapshot }: { disk?: string | undefined; snapshot?: string | undefined },
) {
  const found = snapshot === undefined ? undefined : await findRestorable(controller, snapshot);
  if (found !== undefined && 'refusal' in found) return { ...found.refusal, requeueMs: SNAPSHOT_RETRY_MS };
  const storageClassName = pickStorageClass(controller, sandboxClass);
  const dataSource =
    snapshot === undefined
      ? undefined
      : { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: snapshot };
  const size = pickSize(volume, found?.restoreSize);
  const body = buildVolumeClaim(volume, size, { storageClassName, volumeName: disk, dataSource });
  return create(controller, volume, { plural: 'persistentvolumeclaims', body });
}

/** A claim must not be smaller than the snapshot that it is restored from. */
function pickSize({ spec }: Volume, restoreSize = '0'): string {
  return parseQuantity(restoreSize) > parseQuantity(spec.initialSize) ? restoreSize : spec.initialSize;
}

function update(plan: VolumePlan, condition: ConditionUpdate): VolumePlan {
  return { ...plan, conditions: [...plan.conditions.filter(({ type }) => type !== condition.type), condition] };
}

type Creation = {
  plural: 'pods' | 'persistentvolumeclaims';
  body: object & { metadata: { name: string } };
};

/** Returns the API server's refusal: the current one, or the last one while the next attempt is not due. */
async function create(controller: Controller, volume: Volume, { plural, body }: Creation) {
  const { writer, refusals } = controller;
  const { name, generation = 0 } = volume.metadata;
  const key = resourceKey('volumes', name);
  const pending = refusals.findPending(key, generation);
  if (pending !== undefined) return pending;
  try {
    const isNew = await writer.create(plural, body);
    refusals.forget(key);
    if (isNew || plural === 'pods') return undefined;
    // The cache is behind, or the name is taken by a claim without our labels, which it does not have.
    const claim = await readClaim(controller, volume);
    if (claim === undefined || isClaimOf(claim, volume)) return undefined;
    const { reason, message } = describeForeign(volume, claim);
    return { reason, message, requeueMs: FOREIGN_RETRY_MS };
  } catch (error) {
    const refusal = describeRefusal(error, plural === 'pods' ? 'PodRefused' : 'ClaimRefused');
    if (refusal === undefined) throw error;
    return { ...refusal, requeueMs: refusals.record(key, generation, refusal) };
  }
}

async function grow({ writer }: Controller, { claim, size }: { claim: Claim; size: string }): Promise<ConditionUpdate> {
  try {
    await writer.patch('persistentvolumeclaims', claim, { spec: { resources: { requests: { storage: size } } } });
    return { type: 'Growable', status: 'True', reason: 'Growing', message: `Requested ${size}.` };
  } catch (error) {
    if (!hasStatus(error, 403, 422)) throw error;
    return { type: 'Growable', status: 'False', reason: 'GrowthRefused', message: errorText(error), touch: true };
  }
}
