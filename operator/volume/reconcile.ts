import { LABELS } from '../../src/platform/kubernetes/resource.ts';
import type { Volume } from '../../src/sandbox/resources/volume.ts';
import { hasStatus } from '../../src/platform/kubernetes/client.ts';
import { errorText } from '../../src/platform/errors.ts';
import { omitUndefined } from '../../src/platform/records.ts';
import { buildOwner, buildPod } from '../pod/build.ts';
import type { Finding } from '../runtime/conditions.ts';
import type { Controller } from '../runtime/controller.ts';
import { RECHECK_MS } from '../runtime/expectations.ts';
import { soonest } from '../runtime/queue.ts';
import type { Outcome } from '../runtime/queue.ts';
import { reportStatus } from '../runtime/status.ts';
import { expectationKey } from '../runtime/writer.ts';
import { decideVolume } from './decide.ts';
import type { VolumePlan } from './decide.ts';

/** Brings one volume's claim and standby pod to what its spec asks for: gather, decide, act. */
export async function reconcileVolume(controller: Controller, name: string): Promise<Outcome> {
  const { caches, expectations, usage } = controller;
  const volume = caches.volumes.get(name);
  // Its claim and pods have it as their owner: the cluster collects them.
  if (volume === undefined) {
    controller.untold.delete(expectationKey('volumes', name));
    return undefined;
  }
  const pods = caches.pods
    .find('volume', name)
    .filter(({ metadata }) => metadata.labels?.[LABELS.volumeUid] === volume.metadata.uid);
  const key = expectationKey('volumes', name);
  const keys = [
    key,
    expectationKey('persistentvolumeclaims', name),
    expectationKey('pods', `${name}-standby-0`),
    ...pods.map(({ metadata }) => expectationKey('pods', metadata.name)),
  ];
  // The cache is older than what was last written: its event brings this volume here again.
  if (!expectations.areMet(keys, key)) return { requeueMs: RECHECK_MS };
  const now = new Date();
  const usedBytes = usage.get(volume.metadata.uid);
  const plan = decideVolume({ volume, claim: caches.claims.get(name), pods, usedBytes, now });
  return act(controller, volume, plan, now);
}

async function act(controller: Controller, volume: Volume, plan: VolumePlan, now: Date): Promise<Outcome> {
  const refusal = await perform(controller, volume, plan);
  const target = { kind: 'Volume', plural: 'volumes', object: volume } as const;
  const findings = refusal === undefined ? plan.findings : [...plan.findings, refusal];
  // Until then its claim is likely bound; some classes give storage only to the first pod that asks.
  const isPassing = plan.findings.some(({ type, reason }) => type === 'Ready' && reason === 'ClaimPending');
  const untoldMs = await reportStatus(controller, target, plan.status, findings, { now, isPassing });
  return soonest(plan.requeueMs, untoldMs);
}

/** What the cluster refuses for good is a finding; everything else that fails is thrown and tried again. */
async function perform(
  { writer, options }: Controller,
  volume: Volume,
  plan: VolumePlan,
): Promise<Finding | undefined> {
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
        return { type: 'Growable', status: 'True', reason: 'Growing', message: `Asked for ${action.size}.` };
      } catch (error) {
        if (!hasStatus(error, 403, 422)) throw error;
        return { type: 'Growable', status: 'False', reason: 'GrowthRefused', message: errorText(error), isNew: true };
      }
    case 'createStandby':
      await writer.create(
        'pods',
        buildPod(volume, options.pod, { name: action.name, owner: buildOwner('Volume', volume.metadata), labels: {} }),
      );
      return undefined;
    case 'removePod':
      // As it was read: one that a session has adopted meanwhile is another by now, and stays.
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
