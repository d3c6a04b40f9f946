import { LABELS } from '../../src/platform/kubernetes/resource.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import { hasStatus } from '../../src/platform/kubernetes/client.ts';
import { errorText } from '../../src/platform/errors.ts';
import { omitUndefined } from '../../src/platform/records.ts';
import { buildOwner, buildPod } from '../pod/build.ts';
import type { ConditionUpdate } from '../runtime/conditions.ts';
import type { Controller } from '../runtime/controller.ts';
import { RECHECK_MS } from '../runtime/expectations.ts';
import { earliest } from '../runtime/queue.ts';
import type { Outcome } from '../runtime/queue.ts';
import { reportStatus } from '../runtime/status.ts';
import { resourceKey } from '../runtime/writer.ts';
import { decideVolume } from './decide.ts';
import type { VolumePlan } from './decide.ts';

/** Brings one volume's claim and standby pod to what its spec requests: gather, decide, act. */
export async function reconcileVolume(controller: Controller, name: string): Promise<Outcome> {
  const { caches, expectations, usage } = controller;
  const volume = caches.volumes.get(name);
  // Its claim and pods have it as their owner, so the cluster collects them.
  if (volume === undefined) {
    controller.deferredStatus.delete(resourceKey('volumes', name));
    return undefined;
  }
  const pods = caches.pods
    .find('volume', name)
    .filter(({ metadata }) => metadata.labels?.[LABELS.volumeUid] === volume.metadata.uid);
  const key = resourceKey('volumes', name);
  const keys = [
    key,
    resourceKey('persistentvolumeclaims', name),
    resourceKey('pods', `${name}-standby-0`),
    ...pods.map(({ metadata }) => resourceKey('pods', metadata.name)),
  ];
  // The cache is older than our last write, whose watch event will enqueue this volume again.
  if (!expectations.areMet(keys, key)) return { requeueMs: RECHECK_MS };
  const now = new Date();
  const usedBytes = usage.get(volume.metadata.uid);
  const plan = decideVolume({ volume, claim: caches.claims.get(name), pods, usedBytes, now });
  return act(controller, volume, plan, now);
}

async function act(controller: Controller, volume: Volume, plan: VolumePlan, now: Date): Promise<Outcome> {
  const growth = await perform(controller, volume, plan);
  const deferredMs = await reportStatus(controller, {
    kind: 'Volume',
    plural: 'volumes',
    object: volume,
    fields: plan.status,
    conditions: growth === undefined ? plan.conditions : [...plan.conditions, growth],
    now,
    // Most claims are bound within a second; some storage classes wait for the first pod.
    isTransient: plan.conditions.some(({ type, reason }) => type === 'Ready' && reason === 'ClaimPending'),
  });
  return earliest(plan.requeueMs, deferredMs);
}

/** Returns the outcome of a growth, accepted or refused. Any other failure is thrown and retried. */
async function perform(
  { writer, options }: Controller,
  volume: Volume,
  plan: VolumePlan,
): Promise<ConditionUpdate | undefined> {
  const { action } = plan;
  switch (action.type) {
    case 'none':
      return undefined;
    case 'createClaim':
      await writer.create('persistentvolumeclaims', buildClaim(volume, options.storageClassName));
      return undefined;
    case 'growClaim':
      try {
        const change = { spec: { resources: { requests: { storage: action.size } } } };
        await writer.patch('persistentvolumeclaims', action.claim, change);
        return { type: 'Growable', status: 'True', reason: 'Growing', message: `Requested ${action.size}.` };
      } catch (error) {
        if (!hasStatus(error, 403, 422)) throw error;
        return { type: 'Growable', status: 'False', reason: 'GrowthRefused', message: errorText(error), touch: true };
      }
    case 'createStandby':
      await writer.create(
        'pods',
        buildPod(volume, options.pod, { name: action.name, owner: buildOwner('Volume', volume.metadata), labels: {} }),
      );
      return undefined;
    case 'removePod':
      // Fails if a session has adopted the pod since it was read.
      await writer.remove('pods', action.pod);
      return undefined;
  }
}

function buildClaim(volume: Volume, storageClassName: string | undefined) {
  const { name, namespace, uid } = volume.metadata;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace,
      labels: { [LABELS.managedBy]: 'capstan-operator', [LABELS.volume]: name, [LABELS.volumeUid]: uid },
      ownerReferences: [buildOwner('Volume', volume.metadata)],
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: volume.spec.initialSize } },
      ...omitUndefined({ storageClassName }),
    },
  };
}
