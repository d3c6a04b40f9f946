// Tests: test/cluster/warm-pool.test.ts
import { LABELS, TAKEN_ANNOTATION, TEMPLATE_ANNOTATION } from '../../src/platform/kubernetes/resource.ts';
import type { SandboxClass } from '../../src/sandbox/resources/sandbox-class.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import { hasStatus } from '../../src/platform/kubernetes/client.ts';
import type { Claim, Pod } from '../../src/platform/kubernetes/types.ts';
import { buildOwner, buildVolumeLabels } from '../pod/build.ts';
import { isOwnedBy } from '../pod/state.ts';
import type { Controller } from '../runtime/controller.ts';
import { describeRefusal } from '../runtime/refusals.ts';
import { resourceKey } from '../runtime/writer.ts';
import { buildClaimLabels } from '../volume/claim.ts';
import { isReady } from './decide.ts';
import { buildTemplate } from './template.ts';

type Pair = { pod: Pod; claim: Claim };

/**
 * Gives a new volume a pod of the warm pool with its empty claim, as its standby pod. A disk cannot be attached to a
 * running pod, so a volume that has one already takes none. Returns false if there is nothing to take.
 *
 * The claim is taken first, and only if it is unchanged since it was read, so that a disk never has two volumes. If the
 * pod then cannot be taken, the pool removes it, and another pod starts on the claim.
 */
export async function takeWarm(
  controller: Controller,
  { volume, sandboxClass }: { volume: Volume; sandboxClass: SandboxClass | undefined },
  restore: { disk?: string | undefined; snapshot?: string | undefined },
): Promise<boolean> {
  if (sandboxClass?.spec.warm === undefined || restore.disk !== undefined || restore.snapshot !== undefined) {
    return false;
  }
  const { warm, caches, onWarmTake } = controller;
  const { name } = volume.metadata;
  const { claimName, disk, lostDisk } = volume.status ?? {};
  const isNew = (claimName ?? disk ?? lostDisk) === undefined && caches.pods.find('volume', name).length === 0;
  if (!isNew) return false;
  for (const pair of listReady(controller, sandboxClass, volume)) {
    warm.taken.set(name, pair.pod.metadata.name);
    if (await take(controller, volume, pair)) {
      onWarmTake(sandboxClass.metadata.name, 'warm');
      return true;
    }
  }
  onWarmTake(sandboxClass.metadata.name, 'cold');
  return false;
}

/** Evaluated one by one: another volume may take a pod meanwhile. */
function* listReady(controller: Controller, sandboxClass: SandboxClass, volume: Volume): Generator<Pair> {
  const { caches, warm } = controller;
  const { fingerprint } = buildTemplate(controller, sandboxClass, volume.spec);
  for (const pod of caches.pods.find('pool', sandboxClass.metadata.name)) {
    const { name, uid, annotations } = pod.metadata;
    const claim = caches.claims.get(name);
    if (annotations?.[TEMPLATE_ANNOTATION] !== fingerprint || !isOwnedBy(pod, sandboxClass.metadata.uid)) continue;
    if (claim?.metadata.ownerReferences?.some((owner) => owner.uid === uid) !== true) continue;
    if (claim.status?.phase !== 'Bound' || claim.metadata.deletionTimestamp !== undefined) continue;
    if (isReady(pod) && ![...warm.taken.values()].includes(name)) yield { pod, claim };
  }
}

/** False if another volume was first, or the claim has changed. */
async function take({ writer, warm }: Controller, volume: Volume, { pod, claim }: Pair): Promise<boolean> {
  const { name, uid } = volume.metadata;
  const ownerReferences = [buildOwner('Volume', volume.metadata)];
  const released = { [LABELS.warm]: null, [LABELS.sandboxClass]: null };
  const labels = { ...released, ...buildClaimLabels(name, uid) };
  try {
    await writer.patch('persistentvolumeclaims', claim, { metadata: { labels, ownerReferences } });
  } catch (error) {
    warm.taken.delete(name);
    if (isLost(error)) return false;
    throw error;
  }
  const podLabels = { [LABELS.warm]: null, ...buildVolumeLabels(volume) };
  const annotations = { [TAKEN_ANNOTATION]: new Date().toISOString() };
  try {
    // In any version: since the claim is the volume's, nobody else takes the pod.
    const target = { metadata: { name: pod.metadata.name, uid: pod.metadata.uid } };
    await writer.patch('pods', target, { metadata: { labels: podLabels, annotations, ownerReferences } });
  } catch (error) {
    warm.taken.delete(name);
    if (!isLost(error)) throw error;
  }
  return true;
}

/** It is gone, has changed, or may not be changed: the volume starts a pod of its own. */
function isLost(error: unknown): boolean {
  return hasStatus(error, 409) || describeRefusal(error, 'ClaimRefused') !== undefined;
}

/** What a volume took, until the cache shows it. */
export function listTakenKeys({ warm }: Controller, volumeName: string): string[] {
  const taken = warm.taken.get(volumeName);
  return taken === undefined ? [] : [resourceKey('persistentvolumeclaims', taken), resourceKey('pods', taken)];
}

/** The volume is taking a pod that the cache still shows in the pool. */
export function isTaking({ warm, caches }: Controller, volumeName: string): boolean {
  const taken = warm.taken.get(volumeName);
  return taken !== undefined && caches.pods.get(taken)?.metadata.labels?.[LABELS.warm] !== undefined;
}
