// Tests: test/cluster/warm-pool.test.ts
import { randomBytes } from 'node:crypto';
import { LABELS } from '../../src/platform/kubernetes/resource.ts';
import type { SandboxClass } from '../../src/sandbox/resources/sandbox-class.ts';
import { DEFAULT_SIZES } from '../../src/sandbox/resources/volume.ts';
import type { Pod } from '../../src/platform/kubernetes/types.ts';
import { isOwnedBy } from '../pod/state.ts';
import type { ConditionUpdate } from '../runtime/conditions.ts';
import type { Controller } from '../runtime/controller.ts';
import { RECHECK_MS } from '../runtime/expectations.ts';
import { earliest } from '../runtime/queue.ts';
import type { Outcome } from '../runtime/queue.ts';
import { describeRefusal } from '../runtime/refusals.ts';
import type { Refusal } from '../runtime/refusals.ts';
import { reportStatus } from '../runtime/status.ts';
import { resourceKey } from '../runtime/writer.ts';
import { decideWarmPool } from './decide.ts';
import type { WarmPlan } from './decide.ts';
import { buildTemplate } from './template.ts';
import type { Template } from './template.ts';

/** Until a pool is checked again without a change: another key, or the first one. */
const CHECK_MS = 5000;

/** Brings the warm pool of one class to its target: gather, decide, act. */
export async function reconcileWarmPool(controller: Controller, name: string): Promise<Outcome> {
  const { caches, expectations, warm } = controller;
  const sandboxClass = caches.classes.get(name);
  const key = resourceKey('sandboxclasses', name);
  if (sandboxClass === undefined) {
    // Its pods have it as their owner, so the cluster collects them.
    controller.refusals.forget(key);
    warm.created.delete(name);
    return undefined;
  }
  const pods = findPoolPods(controller, sandboxClass);
  if (sandboxClass.spec.warm === undefined && pods.length === 0 && sandboxClass.status?.warm === undefined) {
    return undefined;
  }
  // The cache is older than our last write, whose watch event will enqueue this class again.
  if (!expectations.areMet([key, ...(warm.created.get(name) ?? [])], key)) return { requeueMs: RECHECK_MS };
  warm.created.delete(name);
  return act(controller, sandboxClass, pods);
}

async function act(controller: Controller, sandboxClass: SandboxClass, pods: Pod[]): Promise<Outcome> {
  const { name, deletionTimestamp } = sandboxClass.metadata;
  const now = new Date();
  const template = findTemplate(controller, sandboxClass);
  const plan = decideWarmPool({
    target: deletionTimestamp === undefined ? (sandboxClass.spec.warm?.target ?? 0) : 0,
    pods,
    findClaim: (podName) => controller.caches.claims.get(podName),
    template: template?.fingerprint,
    now,
  });
  const refused = template === undefined ? undefined : await create(controller, sandboxClass, { plan, template });
  const selector = `${LABELS.sandboxClass}=${name},${LABELS.warm}=true`;
  await reportStatus(controller, {
    kind: 'SandboxClass',
    plural: 'sandboxclasses',
    object: sandboxClass,
    fields: { warm: { pods: plan.pods, ready: plan.ready, selector } },
    conditions: [refused?.condition ?? plan.condition],
    now,
  });
  // Fails if a volume has taken the pod since it was read.
  for (const pod of plan.remove) await controller.writer.remove('pods', pod);
  return earliest(refused?.requeueMs, CHECK_MS);
}

/** The pods of the pool, without those that a volume is taking. */
function findPoolPods({ caches, warm }: Controller, { metadata }: SandboxClass): Pod[] {
  const taken = new Set(warm.taken.values());
  return caches.pods
    .find('pool', metadata.name)
    .filter((pod) => isOwnedBy(pod, metadata.uid) && !taken.has(pod.metadata.name));
}

/** With the key of the newest volume: pools serve new volumes, which have the current one. */
function findTemplate(controller: Controller, sandboxClass: SandboxClass): Template | undefined {
  const age = ({ metadata }: { metadata: { creationTimestamp?: string } }) => metadata.creationTimestamp ?? '';
  let newest;
  for (const volume of controller.caches.volumes.list()) {
    if (newest === undefined || age(volume) > age(newest)) newest = volume;
  }
  if (newest === undefined) return undefined;
  const { initialSize = DEFAULT_SIZES.initialSize, maxSize = DEFAULT_SIZES.maxSize } = sandboxClass.spec.volume ?? {};
  return buildTemplate(controller, sandboxClass, { publicKey: newest.spec.publicKey, initialSize, maxSize });
}

type Refused = { condition: ConditionUpdate; requeueMs: number };

/** Creates the pods and claims of the plan. Returns the API server's refusal, if any. */
async function create(
  { writer, refusals, warm }: Controller,
  { metadata }: SandboxClass,
  { plan, template }: { plan: WarmPlan; template: Template },
): Promise<Refused | undefined> {
  const { name, generation = 0 } = metadata;
  const key = resourceKey('sandboxclasses', name);
  if (plan.create === 0 && plan.claimless.length === 0) return undefined;
  const pending = refusals.findPending(key, generation);
  if (pending !== undefined) return buildRefused(pending);
  const created = new Set<string>();
  warm.created.set(name, created);
  let plural: 'pods' | 'persistentvolumeclaims' = 'persistentvolumeclaims';
  try {
    for (const pod of plan.claimless) {
      created.add(resourceKey(plural, pod.metadata.name));
      await writer.create(plural, template.buildClaim(pod.metadata));
    }
    plural = 'pods';
    for (let count = 0; count < plan.create; count += 1) {
      const podName = `warm-${randomBytes(8).toString('hex')}`;
      created.add(resourceKey(plural, podName));
      await writer.create(plural, template.buildPod(podName));
    }
    refusals.forget(key);
    return undefined;
  } catch (error) {
    const refusal = describeRefusal(error, plural === 'pods' ? 'PodRefused' : 'ClaimRefused');
    if (refusal === undefined) throw error;
    return buildRefused({ ...refusal, requeueMs: refusals.record(key, generation, refusal) });
  }
}

function buildRefused({ reason, message, requeueMs }: Refusal & { requeueMs: number }): Refused {
  return { condition: { type: 'Warm', status: 'False', reason, message }, requeueMs };
}
