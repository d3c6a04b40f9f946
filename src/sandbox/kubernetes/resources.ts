import { API_VERSION, LABELS, USAGE_ANNOTATION } from '../../platform/kubernetes/resource.ts';
import type { Session } from '../resources/session.ts';
import type { Volume } from '../resources/volume.ts';
import { hasStatus } from '../../platform/kubernetes/client.ts';
import type { Kubernetes } from '../../platform/kubernetes/client.ts';
import { startInformer } from '../../platform/kubernetes/informer.ts';
import type { Informer } from '../../platform/kubernetes/informer.ts';
import { buildListPath, buildPath } from '../../platform/kubernetes/paths.ts';
import { stripResource } from '../../platform/kubernetes/types.ts';
import type { Logger } from '../../platform/log.ts';
import { buildAgentLabel, buildSessionName, buildVolumeName } from './names.ts';
import type { SandboxTarget, VolumeKey } from '../sandbox.ts';

/** Sessions and Volumes as this process writes them; their status is the operator's. */
export type Resources = {
  sessions: Informer<Session>;
  volumes: Informer<Volume>;
  /** Resolves at the next change of any of them, at the latest after `ms`. */
  changed(ms: number): Promise<void>;
  ensureVolume(key: VolumeKey, spec?: { standbyUntil: string }): Promise<Volume>;
  /** Has it listed, without a pod; one that is there stays as it is. */
  announceSession(target: SandboxTarget, signal: AbortSignal): Promise<void>;
  /** Wanted and in use from now on; the answer is what the API server holds. */
  wakeSession(target: SandboxTarget): Promise<Session>;
  /** As `wakeSession`, but one that is gone stays gone. */
  touchSession(name: string): Promise<void>;
  /** Has the operator look at the volume of this name. */
  reportUsage(name: string, usedBytes: number): Promise<void>;
  removeSession(name: string): Promise<void>;
  /** Its sessions, then its volumes. */
  removeAgent(agent: Omit<VolumeKey, 'subjectId'>): Promise<void>;
  close(): Promise<void>;
};

const SETTLE_MS = 10_000;
const POLL_MS = 200;

export type ResourcesOptions = { kubernetes: Kubernetes; namespace: string; publicKey: string; log: Logger };

export function openResources({ kubernetes, namespace, publicKey, log }: ResourcesOptions): Resources {
  const start = <T extends Session | Volume>(plural: 'sessions' | 'volumes', indexes = {}) =>
    startInformer<T>({ kubernetes, path: buildListPath(namespace, plural), strip: stripResource, indexes, log });
  const sessions = start<Session>('sessions', { volume: ({ spec }: Session) => spec.volumeName });
  const volumes = start<Volume>('volumes');
  const waiting = new Set<() => void>();
  for (const informer of [sessions, volumes]) {
    informer.onChange(() => {
      for (const wake of waiting) wake();
    });
  }

  const changed = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      waiting.add(wake);
    });

  /** Creates it, or changes what is there; `change` is undefined where nothing has to be. */
  const ensure = async <T>(plural: 'sessions' | 'volumes', name: string, body: object, change: object | undefined) => {
    try {
      return await kubernetes.request<T>({ method: 'POST', path: buildListPath(namespace, plural), body });
    } catch (error) {
      if (!hasStatus(error, 409)) throw error;
    }
    const path = buildPath(namespace, plural, name);
    if (change === undefined) return kubernetes.request<T>({ method: 'GET', path });
    return kubernetes.request<T>({ method: 'PATCH', path, body: change });
  };

  const remove = async (plural: 'sessions' | 'volumes', name: string): Promise<void> => {
    try {
      await kubernetes.request({ method: 'DELETE', path: buildPath(namespace, plural, name) });
    } catch (error) {
      if (!hasStatus(error, 404)) throw error;
    }
  };

  const labels = (key: VolumeKey) => ({ [LABELS.agent]: buildAgentLabel(key), [LABELS.volume]: buildVolumeName(key) });

  const buildSession = ({ organizationId, agentId, subjectId, sessionId }: SandboxTarget, spec: object) => {
    const key = { organizationId, agentId, subjectId };
    const metadata = { name: buildSessionName({ sessionId }), namespace, labels: labels(key) };
    const volumeName = buildVolumeName(key);
    return { apiVersion: API_VERSION, kind: 'Session', metadata, spec: { ...key, sessionId, volumeName, ...spec } };
  };

  return {
    sessions,
    volumes,
    changed,
    async ensureVolume({ organizationId, agentId, subjectId }, spec) {
      const key = { organizationId, agentId, subjectId };
      const name = buildVolumeName(key);
      const known = volumes.get(name);
      const isCurrent = known?.spec.publicKey === publicKey && known.metadata.deletionTimestamp === undefined;
      if (isCurrent && spec === undefined) return known;
      const change = { spec: { publicKey, ...spec } };
      const metadata = { name, namespace, labels: labels(key) };
      const body = { apiVersion: API_VERSION, kind: 'Volume', metadata, spec: { ...key, ...change.spec } };
      return ensure<Volume>('volumes', name, body, change);
    },
    async announceSession(target, signal) {
      const body = buildSession(target, { desiredState: 'Suspended' });
      try {
        await kubernetes.request({ method: 'POST', path: buildListPath(namespace, 'sessions'), body, signal });
      } catch (error) {
        if (!hasStatus(error, 409)) throw error;
      }
    },
    async wakeSession(target) {
      const name = buildSessionName(target);
      // Not before what is there: the times of two machines differ.
      const known = Date.parse(sessions.get(name)?.spec.lastActivityAt ?? '') || 0;
      const change = {
        spec: { desiredState: 'Running', lastActivityAt: new Date(Math.max(Date.now(), known)).toISOString() },
      };
      const path = buildPath(namespace, 'sessions', name);
      const patch = (body: object) => kubernetes.request<Session>({ method: 'PATCH', path, body });
      try {
        const woken = sessions.get(name) === undefined ? undefined : await patch(change).catch(ignoreMissing);
        return woken ?? (await ensure<Session>('sessions', name, buildSession(target, change.spec), change));
      } catch (error) {
        // Somebody told of use at the same time, and what was told later came first.
        if (!hasStatus(error, 422)) throw error;
        return patch({ spec: { desiredState: 'Running' } });
      }
    },
    async touchSession(name) {
      const body = { spec: { lastActivityAt: new Date().toISOString() } };
      try {
        await kubernetes.request({ method: 'PATCH', path: buildPath(namespace, 'sessions', name), body });
      } catch (error) {
        // 422: another process was here, and its clock is ahead.
        if (!hasStatus(error, 404, 422)) throw error;
      }
    },
    async reportUsage(name, usedBytes) {
      const body = { metadata: { annotations: { [USAGE_ANNOTATION]: String(usedBytes) } } };
      await kubernetes.request({ method: 'PATCH', path: buildPath(namespace, 'volumes', name), body });
    },
    removeSession: (name) => remove('sessions', name),
    async removeAgent(agent) {
      const query = { labelSelector: `${LABELS.agent}=${buildAgentLabel(agent)}` };
      for (const plural of ['sessions', 'volumes'] as const) {
        type List = { items: { metadata: { name: string; uid: string } }[] };
        const path = buildListPath(namespace, plural);
        const { items } = await kubernetes.request<List>({ method: 'GET', path, query });
        await Promise.all(items.map(({ metadata }) => remove(plural, metadata.name)));
        // Who comes next must not find in the cache what is gone.
        const isCached = ({ metadata }: List['items'][number]) =>
          (plural === 'sessions' ? sessions : volumes).get(metadata.name)?.metadata.uid === metadata.uid;
        const deadline = Date.now() + SETTLE_MS;
        while (items.some(isCached) && Date.now() < deadline) await changed(POLL_MS);
      }
    },
    async close() {
      await Promise.all([sessions.close(), volumes.close()]);
      for (const wake of waiting) wake();
    },
  };
}

function ignoreMissing(error: unknown): undefined {
  if (!hasStatus(error, 404)) throw error;
}
