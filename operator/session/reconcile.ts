import { KEY_ANNOTATION, LABELS } from '../../src/platform/kubernetes/resource.ts';
import type { Session } from '../../src/sandbox/resources/session.ts';
import { hasStatus } from '../../src/platform/kubernetes/client.ts';
import { buildPath } from '../../src/platform/kubernetes/paths.ts';
import type { Finding } from '../runtime/conditions.ts';
import type { Controller } from '../runtime/controller.ts';
import { RECHECK_MS } from '../runtime/expectations.ts';
import { soonest } from '../runtime/queue.ts';
import type { Outcome } from '../runtime/queue.ts';
import { reportStatus } from '../runtime/status.ts';
import { expectationKey } from '../runtime/writer.ts';
import { fingerprint } from '../pod/build.ts';
import { describePod } from '../pod/state.ts';
import { buildStatusFields, decideSession, isEnding } from './decide.ts';
import type { SessionInput, SessionPlan } from './decide.ts';
import { buildAdoption, buildSessionPod, isOwnedBy } from './pod.ts';

/** How often the pods of a session that is gone are looked for again. */
const LEFTOVER_MS = 5000;
const FRESH_MS = 3000;

/** Brings one session's pod and status to what its spec asks for: gather, decide, act. */
export async function reconcileSession(controller: Controller, name: string): Promise<Outcome> {
  const { caches, expectations } = controller;
  const session = caches.sessions.get(name);
  if (session === undefined) return removeLeftovers(controller, name);
  const key = expectationKey('sessions', name);
  const keys = [key, ...listPods(controller, session).map((pod) => expectationKey('pods', pod))];
  // The cache is older than what was last written: its event brings this session here again.
  if (!expectations.areMet(keys, key)) return { requeueMs: RECHECK_MS };
  const input = gather(controller, session);
  if (input.volume === undefined && isFresh(session, input.now)) return { requeueMs: FRESH_MS };
  return act(controller, session, decideSession(input), input.now);
}

/** Wanted since a moment ago, as its Volume is, of which another watch tells. */
function isFresh({ metadata, spec }: Session, now: Date): boolean {
  const since = spec.lastActivityAt ?? metadata.creationTimestamp ?? '';
  return spec.desiredState === 'Running' && now.getTime() - Date.parse(since) < FRESH_MS;
}

/** Names of the pods that this decision can rest on. */
function listPods({ caches }: Controller, session: Session): string[] {
  const pods = caches.pods.find('volume', session.spec.volumeName).map(({ metadata }) => metadata.name);
  return [session.metadata.name, ...pods];
}

function gather({ caches, options }: Controller, session: Session): SessionInput {
  const { name, uid } = session.metadata;
  const volume = caches.volumes.get(session.spec.volumeName);
  const named = caches.pods.get(name);
  const all = new Set([...caches.pods.find('session', name), ...(named === undefined ? [] : [named])]);
  const own = [...all].filter((pod) => isOwnedBy(pod, uid));
  const standby =
    volume === undefined ? undefined : findStandby(caches.pods.find('volume', volume.metadata.name), volume);
  return {
    session,
    volume,
    own,
    standby,
    inTheWay: [...all].find((pod) => !isOwnedBy(pod, uid)),
    now: new Date(),
    idleMs: options.idleMs,
  };
}

/** A pod that waits for a session, trusts the current key and is well. */
function findStandby(
  pods: ReturnType<Controller['caches']['pods']['list']>,
  volume: NonNullable<SessionInput['volume']>,
): SessionInput['standby'] {
  const key = fingerprint(volume.spec.publicKey);
  return pods.find((pod) => {
    const { annotations, labels } = pod.metadata;
    if (labels?.[LABELS.sessionUid] !== undefined || !isOwnedBy(pod, volume.metadata.uid)) return false;
    const { state } = describePod(pod);
    return annotations?.[KEY_ANNOTATION] === key && !isEnding(pod) && (state === 'ready' || state === 'starting');
  });
}

async function act(controller: Controller, session: Session, plan: SessionPlan, now: Date): Promise<Outcome> {
  const { writer } = controller;
  const { action } = plan;
  let untoldMs: number | undefined;
  const report = async (always: boolean): Promise<void> => {
    const status = plan.phase === 'Running' ? 'True' : 'False';
    const finding = { type: 'Ready', status, reason: plan.reason, message: plan.message } as const;
    const target = { kind: 'Session', plural: 'sessions', object: session } as const;
    const findings = [finding, ...buildRestart(plan)];
    const options = { now, always, isPassing: !always && isPassing(plan, session) };
    untoldMs = await reportStatus(controller, target, buildStatusFields(plan), findings, options);
  };
  switch (action.type) {
    case 'none':
      await report(false);
      break;
    case 'create':
      // False when it is there already and the cache does not know: its event is on its way.
      await writer.create('pods', buildSessionPod(session, action.volume, controller.options.pod));
      await report(false);
      break;
    case 'adopt':
      // Whoever else wants it fails, for it has changed.
      await writer.patch('pods', action.pod, buildAdoption(session));
      await report(false);
      break;
    case 'remove':
      // First said, then done: a call that came meanwhile has changed the session, and this write fails.
      await report(true);
      await writer.remove('pods', action.pod);
      break;
  }
  if (plan.phase === 'Running' && session.status?.phase !== 'Running') noteStart(controller, session, now);
  return soonest(plan.requeueMs, untoldMs);
}

/** A pod is on its way. Where the status still tells of one that takes calls, that is wrong now. */
function isPassing({ phase, reason }: SessionPlan, { status }: Session): boolean {
  return phase === 'Starting' && reason !== 'PodNotReady' && status?.phase !== 'Running';
}

function buildRestart({ restart }: SessionPlan): Finding[] {
  if (restart === undefined) return [];
  return [{ type: 'Restarted', status: 'True', reason: restart.reason, message: restart.message, isNew: true }];
}

/** It was wanted when it was last used: until a pod is there nobody can use it again. */
function noteStart({ onStart }: Controller, { spec }: Session, now: Date): void {
  if (spec.lastActivityAt !== undefined) onStart(now.getTime() - Date.parse(spec.lastActivityAt));
}

/** The session is gone: so is every pod that says it is its, whether or not the cluster collects garbage. */
async function removeLeftovers(controller: Controller, name: string): Promise<Outcome> {
  const { caches, writer, untold, kubernetes, namespace } = controller;
  untold.delete(expectationKey('sessions', name));
  const pods = caches.pods.find('session', name).filter((pod) => !isEnding(pod));
  if (pods.length === 0) return undefined;
  if (await exists(() => kubernetes.request({ method: 'GET', path: buildPath(namespace, 'sessions', name) }))) {
    return { requeueMs: 1000 };
  }
  for (const pod of pods) await writer.remove('pods', pod);
  return { requeueMs: LEFTOVER_MS };
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
