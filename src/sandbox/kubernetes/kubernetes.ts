import { INITIAL_VOLUME_BYTES } from '../volume-size.ts';
import type { Session } from '../resources/session.ts';
import { errorText } from '../../platform/errors.ts';
import { isPassing } from '../../platform/kubernetes/client.ts';
import type { Kubernetes } from '../../platform/kubernetes/client.ts';
import type { Logger } from '../../platform/log.ts';
import { buildVolumeFiles } from '../executor/files.ts';
import { openLinks } from './links.ts';
import type { Link, Place } from './links.ts';
import { buildSessionName, buildVolumeName } from './names.ts';
import { openResources } from './resources.ts';
import { openUsageReports, readSize } from './usage.ts';
import { SandboxError } from '../sandbox.ts';
import type { SandboxNotice, SandboxTarget, Sandboxes, VolumeInfo, VolumeKey } from '../sandbox.ts';
import type { Signer } from '../executor/token.ts';

/** How long a call is held while its pod starts. */
const START_MS = 120_000;
/** How long a file call waits for a volume that warms up. */
const VOLUME_WAIT_MS = 10_000;
const STANDBY_MS = 5 * 60_000;
/** A session is there whether or not it is listed, so whoever makes one waits no longer than this. */
const ANNOUNCE_MS = 5000;
/** Use is told this often at most, and after a call this late at most. */
const TOUCH_MS = 60_000;
/** A sandbox whose background processes still run is kept longer, but not for ever. */
const BUSY_MS = 4 * 60 * 60_000;
const POLL_MS = 50;
const RETRY_MS = 500;
const AWAY = 'the API server of Kubernetes does not answer';
const USAGE_MS = 5000;

export type KubernetesSandboxOptions = {
  kubernetes: Kubernetes;
  namespace: string;
  signer: Signer;
  log: Logger;
  startMs?: number;
  volumeWaitMs?: number;
  touchMs?: number;
  announceMs?: number;
};

/**
 * One pod a session, made by the operator for the resources that are written here. A call is held while its pod starts;
 * when the pod dies it fails, and whoever acquires next gets the next pod on the same volume. While the API server is away,
 * pods that run are called as before, and what needs it is held.
 */
export async function openKubernetesSandboxes(options: KubernetesSandboxOptions): Promise<Sandboxes> {
  const { kubernetes, namespace, signer, log } = options;
  const { startMs = START_MS, volumeWaitMs = VOLUME_WAIT_MS, touchMs = TOUCH_MS, announceMs = ANNOUNCE_MS } = options;
  const resources = openResources({ kubernetes, namespace, publicKey: signer.publicKey, log });
  const handlers = new Set<(notice: SandboxNotice) => void>();
  const links = openLinks(signer, (notice) => handlers.forEach((handler) => handler(notice)));
  const usage = openUsageReports(resources, log);
  const track = <T extends object>(podUid: string, link: Link, client: T, key: VolumeKey): T =>
    links.track(podUid, link, client, () => usage.look(buildVolumeName(key), link));
  /** the sessions that this process has acquired, by name */
  const held = new Map<string, { target: SandboxTarget; touchedMs: number }>();
  /** what `prepare` has asked for and no call has come for yet */
  const prepared = new Map<string, Promise<Session | undefined>>();
  let closed = false;

  resources.sessions.onChange((name, session, before) => {
    const podUid = before?.status?.podUid;
    if (podUid !== undefined && podUid !== session?.status?.podUid) links.forget(podUid);
    if (session !== undefined) return;
    held.delete(name);
    prepared.delete(name);
  });
  await Promise.all([resources.sessions.synced, resources.volumes.synced]);

  const touch = async (name: string, target: SandboxTarget): Promise<Session> => {
    const touchedMs = Date.now();
    const session = await resources.wakeSession(target);
    held.set(name, { target, touchedMs });
    return session;
  };

  const isInUse = async (link: Link, touchedMs: number): Promise<boolean> => {
    if (link.active > 0 || link.usedMs > touchedMs) return true;
    if (Date.now() - link.usedMs > BUSY_MS) return false;
    const processes = await link.client.listProcesses().catch(() => []);
    return processes.some(({ status }) => status === 'running');
  };

  const sweep = async (): Promise<void> => {
    for (const [name, { target, touchedMs }] of held) {
      const link = links.get(resources.sessions.get(name)?.status?.podUid ?? '');
      if (link === undefined || Date.now() - touchedMs < touchMs) continue;
      if (!(await isInUse(link, touchedMs)) || closed) continue;
      held.set(name, { target, touchedMs: Date.now() });
      await resources.touchSession(name).catch((error: unknown) => {
        log.warn({ sessionId: target.sessionId, error: errorText(error) }, 'the use of a sandbox could not be told');
      });
    }
  };
  const timer = setInterval(() => void sweep(), touchMs / 2);
  timer.unref();

  const acquire: Sandboxes['acquire'] = async (target, signal) => {
    requireOpen(signal);
    const name = buildSessionName(target);
    const place = findPlace(resources.sessions.get(name));
    const link = place === undefined ? undefined : links.get(place.podUid);
    const isFresh = Date.now() - (held.get(name)?.touchedMs ?? -Infinity) < touchMs;
    const running =
      place === undefined || link === undefined || link.suspect
        ? undefined
        : track(place.podUid, link, link.client, target);
    if (running !== undefined && isFresh) return running;
    const asked = prepared.get(name);
    prepared.delete(name);
    const deadline = Date.now() + startMs;
    for (;;) {
      try {
        const woken = (isFresh ? await asked : undefined) ?? (await wake(name, target));
        return await waitStarted(target, woken, deadline, signal);
      } catch (error) {
        if (error instanceof SandboxError || !isPassing(error)) throw error;
        if (running !== undefined) {
          // Its use is told by the sweep, when somebody listens again.
          held.set(name, { target, touchedMs: -Infinity });
          return running;
        }
        if (Date.now() > deadline) throw new SandboxError(`the sandbox did not start: ${AWAY}`, { cause: error });
      }
      await resources.changed(RETRY_MS);
      requireOpen(signal);
    }
  };

  const wake = async (name: string, target: SandboxTarget): Promise<Session> => {
    await resources.ensureVolume(target);
    return touch(name, target);
  };

  const prepare: Sandboxes['prepare'] = async (target) => {
    requireOpen();
    const name = buildSessionName(target);
    const asked = wake(name, target);
    prepared.set(
      name,
      asked.catch(() => undefined),
    );
    await asked;
  };

  const announce: Sandboxes['announce'] = async (target) => {
    requireOpen();
    if (resources.sessions.get(buildSessionName(target)) !== undefined) return;
    await resources.announceSession(target, AbortSignal.timeout(announceMs));
  };

  const waitStarted = async (target: SandboxTarget, woken: Session, deadline: number, signal: AbortSignal) => {
    const { name, uid } = woken.metadata;
    let session = woken;
    for (;;) {
      requireOpen(signal);
      const place = findPlace(session);
      const link = place === undefined ? undefined : await links.reach(place);
      if (place !== undefined && link !== undefined) {
        links.follow(place.podUid, link, target.sessionId);
        return track(place.podUid, link, link.client, target);
      }
      if (Date.now() > deadline) {
        const ready = session.status?.conditions?.find(({ type }) => type === 'Ready');
        throw new SandboxError(`the sandbox did not start: ${ready?.message ?? 'no operator has taken it up'}`);
      }
      await resources.changed(place === undefined ? 1000 : POLL_MS);
      const cached = resources.sessions.get(name);
      if (cached?.metadata.uid === uid) session = cached;
      // Another process may have deleted it, unseen until now.
      await resources.ensureVolume(target);
    }
  };

  const requireOpen = (signal?: AbortSignal): void => {
    if (closed) throw new SandboxError('the sandboxes are closed');
    if (signal?.aborted === true) throw new SandboxError('cancelled while the sandbox started');
  };

  /** A pod that mounts the volume: a session's, else the standby. */
  const findServing = (name: string): Place | undefined =>
    resources.sessions.find('volume', name).flatMap((session) => findPlace(session) ?? [])[0] ??
    readPlace(resources.volumes.get(name)?.status);

  const keepWarm = async (key: VolumeKey): Promise<void> => {
    const until = Date.parse(resources.volumes.get(buildVolumeName(key))?.spec.standbyUntil ?? '');
    if (until > Date.now() + STANDBY_MS / 2) return;
    await resources.ensureVolume(key, { standbyUntil: new Date(Date.now() + STANDBY_MS).toISOString() });
  };

  const reachVolume = async (key: VolumeKey): Promise<{ podUid: string; link: Link }> => {
    const name = buildVolumeName(key);
    const deadline = Date.now() + volumeWaitMs;
    for (;;) {
      requireOpen();
      let trouble: unknown;
      await keepWarm(key).catch((error: unknown) => {
        if (!isPassing(error)) throw error;
        trouble = error;
      });
      const place = findServing(name);
      const link = place === undefined ? undefined : await links.reach(place);
      if (place !== undefined && link !== undefined) return { podUid: place.podUid, link };
      if (Date.now() > deadline) {
        throw new SandboxError(trouble === undefined ? 'the sandbox is still warming up' : AWAY, { cause: trouble });
      }
      await resources.changed(place === undefined ? 1000 : POLL_MS);
    }
  };

  return {
    announce,
    prepare,
    acquire,
    warm: (key) => keepWarm(key),
    async remove(target) {
      const name = buildSessionName(target);
      links.forget(resources.sessions.get(name)?.status?.podUid);
      held.delete(name);
      prepared.delete(name);
      await resources.removeSession(name);
    },
    async openVolume(key, { create }) {
      requireOpen();
      if (!create && resources.volumes.get(buildVolumeName(key)) === undefined) return undefined;
      const { podUid, link } = await reachVolume(key);
      const files = buildVolumeFiles(link.client, {
        onUsage: () => undefined,
        onBody(body) {
          link.active += 1;
          body.once('close', () => (link.active -= 1));
        },
      });
      return track(podUid, link, files, key);
    },
    async describeVolume(key): Promise<VolumeInfo | undefined> {
      const volume = resources.volumes.get(buildVolumeName(key));
      if (volume === undefined) return undefined;
      const { status, metadata } = volume;
      const serving = findServing(metadata.name);
      const link = serving === undefined ? undefined : links.get(serving.podUid);
      const counted = await link?.client.call('usage', {}, { timeoutMs: USAGE_MS }).catch(() => undefined);
      const createdAt = new Date(metadata.creationTimestamp ?? 0);
      const changes = status?.conditions?.map(({ lastTransitionTime }) => Date.parse(lastTransitionTime)) ?? [];
      return {
        status: status?.phase === 'Ready' ? 'ready' : status?.phase === 'Failed' ? 'unavailable' : 'warming',
        sizeBytes: readSize(status?.size) ?? INITIAL_VOLUME_BYTES,
        usedBytes: counted?.usedBytes ?? status?.usedBytes ?? 0,
        createdAt,
        updatedAt: new Date(Math.max(createdAt.getTime(), ...changes)),
      };
    },
    async deleteVolumes(agent) {
      await resources.removeAgent(agent);
    },
    onNotice: (handler) => void handlers.add(handler),
    async ping() {
      await kubernetes.request({ method: 'GET', path: '/version' });
    },
    async close() {
      closed = true;
      clearInterval(timer);
      links.close();
      await resources.close();
    },
  };
}

function findPlace(session: Session | undefined): Place | undefined {
  return session?.metadata.deletionTimestamp === undefined ? readPlace(session?.status) : undefined;
}

function readPlace(status: { podUid?: string; podIP?: string } | undefined): Place | undefined {
  const { podUid, podIP } = status ?? {};
  return podUid === undefined || podIP === undefined ? undefined : { podUid, podIP };
}
