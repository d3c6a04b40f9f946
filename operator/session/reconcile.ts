import { KEY_ANNOTATION, LABELS } from '../../src/platform/kubernetes/resource.ts';
import type { SandboxClass } from '../../src/sandbox/resources/sandbox-class.ts';
import type { Session } from '../../src/sandbox/resources/session.ts';
import { hasStatus } from '../../src/platform/kubernetes/client.ts';
import { buildListPath, buildPath } from '../../src/platform/kubernetes/paths.ts';
import type { Pod } from '../../src/platform/kubernetes/types.ts';
import type { ConditionUpdate } from '../runtime/conditions.ts';
import type { Controller } from '../runtime/controller.ts';
import { RECHECK_MS } from '../runtime/expectations.ts';
import { describeRefusal } from '../runtime/refusals.ts';
import type { Refusal } from '../runtime/refusals.ts';
import { earliest } from '../runtime/queue.ts';
import type { Outcome } from '../runtime/queue.ts';
import { reportStatus } from '../runtime/status.ts';
import { resourceKey } from '../runtime/writer.ts';
import { fingerprint } from '../pod/build.ts';
import { applyClass, applyVolumeClass } from '../pod/sandbox-class.ts';
import { describePod, isOwnedBy } from '../pod/state.ts';
import { findClaim, isClaimOf } from '../volume/claim.ts';
import { isTaking, listTakenKeys } from '../warm/take.ts';
import { buildStatusFields, decideSession, isEnding } from './decide.ts';
import type { SessionInput, SessionPlan } from './decide.ts';
import { buildAdoption, buildSessionPod } from './pod.ts';

/** Until the pods of a deleted session are checked again. */
const ORPHANS_MS = 5000;
const FRESH_MS = 3000;
const FOREIGN_POD_MS = 5000;

/** Brings one session's pod and status to what its spec requests: gather, decide, act. */
export async function reconcileSession(controller: Controller, name: string): Promise<Outcome> {
  const { caches, expectations } = controller;
  const session = caches.sessions.get(name);
  if (session === undefined) return removeOrphans(controller, name);
  const key = resourceKey('sessions', name);
  const pods = listPods(controller, session).map((pod) => resourceKey('pods', pod));
  const keys = [key, ...pods, ...listTakenKeys(controller, session.spec.volumeName)];
  // The cache is older than our last write, whose watch event will enqueue this session again.
  if (!expectations.areMet(keys, key)) return { requeueMs: RECHECK_MS };
  const input = gather(controller, session);
  if (input.volume === undefined && isFresh(session, input.now)) return { requeueMs: FRESH_MS };
  return act(controller, session, decideSession(input), input.now);
}

/** Requested a moment ago, by a clock that may differ: its Volume comes through another watch and may be on its way. */
function isFresh({ metadata, spec }: Session, now: Date): boolean {
  const since = spec.lastActivityAt ?? metadata.creationTimestamp ?? '';
  return spec.desiredState === 'Running' && Math.abs(now.getTime() - Date.parse(since)) < FRESH_MS;
}

/** Names of the pods that the decision may depend on. */
function listPods({ caches }: Controller, session: Session): string[] {
  const pods = caches.pods.find('volume', session.spec.volumeName).map(({ metadata }) => metadata.name);
  return [session.metadata.name, ...pods];
}

function findClass(
  { caches }: Controller,
  { sandboxClass }: Pick<Session['spec'], 'sandboxClass'>,
): SandboxClass | undefined {
  return sandboxClass === undefined ? undefined : caches.classes.get(sandboxClass);
}

function gather(controller: Controller, session: Session): SessionInput {
  const { caches, options } = controller;
  const { name, uid } = session.metadata;
  const sandboxClass = findClass(controller, session.spec);
  const volume = caches.volumes.get(session.spec.volumeName);
  const named = caches.pods.get(name);
  const all = new Set([...caches.pods.find('session', name), ...(named === undefined ? [] : [named])]);
  const ownedPods = [...all].filter((pod) => isOwnedBy(pod, uid));
  const standby =
    volume === undefined
      ? undefined
      : findStandby(caches.pods.find('volume', volume.metadata.name), volume, session.spec.sandboxClass);
  return {
    session,
    volume,
    ownedPods,
    standby,
    foreignPod: [...all].find((pod) => !isOwnedBy(pod, uid)),
    missingClass: sandboxClass === undefined ? session.spec.sandboxClass : undefined,
    foreignClaim: volume === undefined ? undefined : findForeignClaim(controller, volume),
    waitsForClaim: volume !== undefined && waitsForClaim(controller, volume),
    now: new Date(),
    idleMs: options.idleMs,
  };
}

/** A pod mounts its claim by name: this must not be the claim of another volume, or of none. */
function findForeignClaim({ caches }: Controller, volume: NonNullable<SessionInput['volume']>): string | undefined {
  const claim = findClaim(caches, volume);
  return claim === undefined || isClaimOf(claim, volume) ? undefined : claim.metadata.name;
}

/** With a warm pool, only the claim tells whether the volume has taken a pod with it, and which one to mount. */
function waitsForClaim(controller: Controller, volume: NonNullable<SessionInput['volume']>): boolean {
  const hasPool = findClass(controller, volume.spec)?.spec.warm !== undefined;
  const isClaimless = findClaim(controller.caches, volume) === undefined;
  return (hasPool && isClaimless) || isTaking(controller, volume.metadata.name);
}

/** A pod without a session that trusts the current key and is ready or starting. */
function findStandby(
  pods: ReturnType<Controller['caches']['pods']['list']>,
  volume: NonNullable<SessionInput['volume']>,
  sandboxClass: string | undefined,
): SessionInput['standby'] {
  const key = fingerprint(volume.spec.publicKey);
  return pods.find((pod) => {
    const { annotations, labels } = pod.metadata;
    if (labels?.[LABELS.sessionUid] !== undefined || !isOwnedBy(pod, volume.metadata.uid)) return false;
    if (labels?.[LABELS.sandboxClass] !== sandboxClass) return false;
    const { state } = describePod(pod);
    return annotations?.[KEY_ANNOTATION] === key && !isEnding(pod) && (state === 'ready' || state === 'starting');
  });
}

async function act(controller: Controller, session: Session, decided: SessionPlan, now: Date): Promise<Outcome> {
  const { writer } = controller;
  const { action } = decided;
  const plan = await startPod(controller, session, decided);
  let deferredMs: number | undefined;
  const report = async (force: boolean): Promise<void> => {
    deferredMs = await reportStatus(controller, {
      kind: 'Session',
      plural: 'sessions',
      object: session,
      fields: buildStatusFields(plan),
      conditions: buildConditionUpdates(plan),
      now,
      force,
      isTransient: !force && isTransient(plan, session),
    });
  };
  switch (action.type) {
    case 'none':
    case 'create':
    case 'adopt':
      await report(false);
      break;
    case 'remove':
      // Status first: if a call has changed the session since it was read, this write fails and the pod stays.
      await report(true);
      await writer.remove('pods', action.pod);
      break;
  }
  if (plan.phase === 'Running' && session.status?.phase !== 'Running') recordStartup(controller, session, now);
  return earliest(plan.requeueMs, deferredMs);
}

/** Creates or adopts the pod if that is planned. Returns the plan, changed if the API server refused. */
async function startPod(controller: Controller, session: Session, plan: SessionPlan): Promise<SessionPlan> {
  const { writer, refusals, options } = controller;
  const { name, generation = 0 } = session.metadata;
  const { action } = plan;
  const key = resourceKey('sessions', name);
  if (action.type !== 'create' && action.type !== 'adopt') {
    refusals.forget(key);
    return plan;
  }
  const pending = refusals.findPending(key, generation);
  if (pending !== undefined) return buildRefusedPlan(plan, pending);
  try {
    if (action.type === 'create') {
      const sandboxClass = findClass(controller, session.spec);
      const volume = applyVolumeClass(action.volume, sandboxClass);
      const claimName = findClaim(controller.caches, volume)?.metadata.name ?? volume.metadata.name;
      const body = buildSessionPod(session, volume, claimName, applyClass(options.pod, sandboxClass));
      // A taken name: the cache is behind and the watch event will come, or somebody else has created that pod.
      if (!(await writer.create('pods', body)) && (await isTakenByOthers(controller, session))) {
        const message = `Pod ${name} exists and does not belong to this session: delete it.`;
        return buildRefusedPlan(plan, { reason: 'PodRefused', message, requeueMs: FOREIGN_POD_MS });
      }
    }
    // A changed pod makes the write fail.
    if (action.type === 'adopt') await writer.patch('pods', action.pod, buildAdoption(session));
    refusals.forget(key);
    return plan;
  } catch (error) {
    // 404: the standby pod was deleted.
    const isGone = action.type === 'adopt' && hasStatus(error, 404);
    const refusal = isGone ? undefined : describeRefusal(error, 'PodRefused');
    if (refusal === undefined) throw error;
    return buildRefusedPlan(plan, { ...refusal, requeueMs: refusals.record(key, generation, refusal) });
  }
}

/** Reads what the cache lacks: pods without the operator's label. */
async function isTakenByOthers({ kubernetes, namespace }: Controller, { metadata }: Session): Promise<boolean> {
  const query = { fieldSelector: `metadata.name=${metadata.name}` };
  const path = buildListPath(namespace, 'pods');
  const { items } = await kubernetes.request<{ items: Pod[] }>({ method: 'GET', path, query });
  return items.some((pod) => pod.metadata.labels?.[LABELS.managedBy] === undefined && !isOwnedBy(pod, metadata.uid));
}

/** A quota can be freed by others at any time; other refusals need a person. */
function buildRefusedPlan(plan: SessionPlan, refusal: Refusal & { requeueMs: number }): SessionPlan {
  const { reason, message } = refusal;
  const phase = reason === 'QuotaExceeded' ? 'Pending' : 'Failed';
  const requeueMs = Math.min(refusal.requeueMs, plan.requeueMs ?? Infinity);
  return { ...plan, phase, reason, message, pod: undefined, requeueMs };
}

/**
 * A pod is starting. Its address is written at once: services call the executor there as soon as it listens, which the
 * kubelet's readiness probe notices up to two seconds later. A status that still names a running pod is wrong, and is
 * replaced at once.
 */
function isTransient({ phase, reason, pod }: SessionPlan, { status }: Session): boolean {
  const address = pod?.status?.podIP;
  if (address !== undefined && address !== status?.podIP) return false;
  return phase === 'Starting' && reason !== 'PodNotReady' && status?.phase !== 'Running';
}

function buildConditionUpdates({ phase, reason, message, restart }: SessionPlan): ConditionUpdate[] {
  const ready: ConditionUpdate = { type: 'Ready', status: phase === 'Running' ? 'True' : 'False', reason, message };
  if (restart === undefined) return [ready];
  return [ready, { type: 'Restarted', status: 'True', reason: restart.reason, message: restart.message, touch: true }];
}

/** The last activity is the request for this pod: without a pod nobody can use the session. */
function recordStartup({ onSessionReady }: Controller, { spec }: Session, now: Date): void {
  if (spec.lastActivityAt !== undefined) onSessionReady(now.getTime() - Date.parse(spec.lastActivityAt));
}

/** Removes the pods of a deleted session without waiting for the cluster's garbage collector. */
async function removeOrphans(controller: Controller, name: string): Promise<Outcome> {
  const { caches, writer, deferredStatus, kubernetes, namespace } = controller;
  deferredStatus.delete(resourceKey('sessions', name));
  controller.refusals.forget(resourceKey('sessions', name));
  const pods = caches.pods.find('session', name).filter((pod) => !isEnding(pod));
  if (pods.length === 0) return undefined;
  if (await exists(() => kubernetes.request({ method: 'GET', path: buildPath(namespace, 'sessions', name) }))) {
    return { requeueMs: 1000 };
  }
  for (const pod of pods) await writer.remove('pods', pod);
  return { requeueMs: ORPHANS_MS };
}

async function exists(get: () => Promise<unknown>): Promise<boolean> {
  try {
    await get();
    return true;
  } catch (error) {
    if (hasStatus(error, 404)) return false;
    throw error;
  }
}
