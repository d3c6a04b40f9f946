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
import { omitUndefined } from '../../platform/records.ts';
import { buildAgentLabel, buildSessionName, buildVolumeName } from './names.ts';
import type { SandboxTarget, VolumeKey } from '../sandbox.ts';

/** Resolved at the latest after this time, when the cache has not caught up with a deletion. */
const SETTLE_MS = 10_000;
const POLL_MS = 200;
/** More than what the API server accepts as a correction: an hour. */
const MAX_AHEAD_MS = 61 * 60_000;

/** Name of the SandboxClass of an agent; null: the default. */
export type FindClass = (agent: Pick<VolumeKey, 'organizationId' | 'agentId'>) => Promise<string | null>;

export type ResourcesOptions = {
  kubernetes: Kubernetes;
  namespace: string;
  publicKey: string;
  log: Logger;
  /** unset: nobody uses classes */
  findClass?: FindClass;
};

type WritablePlural = 'sessions' | 'volumes';

/** Sessions and Volumes as this process writes them. Their status belongs to the operator. */
export class Resources {
  readonly sessions: Informer<Session>;
  readonly volumes: Informer<Volume>;
  readonly #options: ResourcesOptions;
  readonly #waiting = new Set<() => void>();

  constructor(options: ResourcesOptions) {
    this.#options = options;
    this.sessions = this.#startInformer<Session>('sessions', {
      volume: ({ spec }) => spec.volumeName,
      organization: ({ spec }) => spec.organizationId,
    });
    this.volumes = this.#startInformer<Volume>('volumes', {});
    const wakeAll = (): void => this.#waiting.forEach((wake) => wake());
    this.sessions.onChange(wakeAll);
    this.volumes.onChange(wakeAll);
  }

  /** Resolves at the next change of any of them, at the latest after `ms`. */
  changed(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#waiting.add(wake);
    });
  }

  async ensureVolume(
    { organizationId, agentId, subjectId }: VolumeKey,
    spec?: { standbyUntil: string },
  ): Promise<Volume> {
    const { namespace, publicKey, findClass } = this.#options;
    const key = { organizationId, agentId, subjectId };
    const name = buildVolumeName(key);
    const known = this.volumes.get(name);
    const isCurrent = known?.spec.publicKey === publicKey && known.metadata.deletionTimestamp === undefined;
    if (isCurrent && spec === undefined) return known;
    const sandboxClass = await findClass?.(key);
    const change = { spec: { publicKey, ...spec, ...omitUndefined({ sandboxClass }) } };
    const metadata = { name, namespace, labels: buildLabels(key) };
    const body = { apiVersion: API_VERSION, kind: 'Volume', metadata, spec: { ...key, ...dropNull(change.spec) } };
    return (await this.#create<Volume>('volumes', body)) ?? this.#patch<Volume>('volumes', name, change);
  }

  /** Creates the session without requesting a pod; an existing session stays unchanged. */
  async announceSession(target: SandboxTarget, signal: AbortSignal): Promise<void> {
    await this.#create('sessions', this.#buildSession(target, { desiredState: 'Suspended' }), signal);
  }

  /** Requests a pod and records activity. Returns the session as the API server holds it. */
  async wakeSession(target: SandboxTarget): Promise<Session> {
    const name = buildSessionName(target);
    const known = this.sessions.get(name);
    // Not before the known time: clocks of machines differ, and the API server refuses an earlier one.
    // One that lies far ahead was written by a wrong clock, and is corrected.
    const knownMs = Date.parse(known?.spec.lastActivityAt ?? '') || 0;
    const lastActivityMs = knownMs > Date.now() + MAX_AHEAD_MS ? Date.now() : Math.max(Date.now(), knownMs);
    const sandboxClass = await this.#options.findClass?.(target);
    const lastActivityAt = new Date(lastActivityMs).toISOString();
    const spec = { desiredState: 'Running', lastActivityAt, ...omitUndefined({ sandboxClass }) };
    try {
      const woken =
        known === undefined ? undefined : await this.#patch<Session>('sessions', name, { spec }).catch(ignoreMissing);
      if (woken !== undefined) return woken;
      const created = await this.#create<Session>('sessions', this.#buildSession(target, dropNull(spec)));
      return created ?? (await this.#patch<Session>('sessions', name, { spec }));
    } catch (error) {
      // 422: another process has reported a later activity at the same time.
      if (!hasStatus(error, 422)) throw error;
      return this.#patch<Session>('sessions', name, { spec: { desiredState: 'Running' } });
    }
  }

  /** Records activity of a session; does nothing when it is deleted. */
  async touchSession(name: string): Promise<void> {
    try {
      await this.#patch('sessions', name, { spec: { lastActivityAt: new Date().toISOString() } });
    } catch (error) {
      // 422: another process has reported a later activity.
      if (!hasStatus(error, 404, 422)) throw error;
    }
  }

  /** Makes the operator check the volume of this name. */
  async reportUsage(name: string, usedBytes: number): Promise<void> {
    await this.#patch('volumes', name, { metadata: { annotations: { [USAGE_ANNOTATION]: String(usedBytes) } } });
  }

  async removeSession(name: string): Promise<void> {
    await this.#remove('sessions', name);
  }

  /** Deletes the agent's sessions, then its volumes, and waits until the caches hold neither. */
  async removeAgent(agent: Omit<VolumeKey, 'subjectId'>): Promise<void> {
    await this.#removeLabelled(`${LABELS.agent}=${buildAgentLabel(agent)}`);
  }

  /** As `removeAgent`, for the sessions and the volume of one subject. */
  async removeVolume(key: VolumeKey): Promise<void> {
    await this.#removeLabelled(`${LABELS.volume}=${buildVolumeName(key)}`);
  }

  async #removeLabelled(labelSelector: string): Promise<void> {
    const { kubernetes, namespace } = this.#options;
    const query = { labelSelector };
    for (const plural of ['sessions', 'volumes'] as const) {
      type List = { items: { metadata: { name: string; uid: string } }[] };
      const path = buildListPath(namespace, plural);
      const { items } = await kubernetes.request<List>({ method: 'GET', path, query });
      await Promise.all(items.map(({ metadata }) => this.#remove(plural, metadata.name)));
      // The next caller must not find deleted objects in the cache.
      const isCached = ({ metadata }: List['items'][number]) =>
        this[plural].get(metadata.name)?.metadata.uid === metadata.uid;
      const deadline = Date.now() + SETTLE_MS;
      while (items.some(isCached) && Date.now() < deadline) await this.changed(POLL_MS);
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.sessions.close(), this.volumes.close()]);
    for (const wake of this.#waiting) wake();
  }

  #startInformer<T extends Session | Volume>(
    plural: WritablePlural,
    indexes: Record<string, (object: T) => string | undefined>,
  ): Informer<T> {
    const { kubernetes, namespace, log } = this.#options;
    return startInformer<T>({
      kubernetes,
      path: buildListPath(namespace, plural),
      strip: stripResource,
      indexes,
      log,
    });
  }

  #buildSession({ organizationId, agentId, subjectId, sessionId }: SandboxTarget, spec: object) {
    const key = { organizationId, agentId, subjectId };
    const { namespace } = this.#options;
    const metadata = { name: buildSessionName({ sessionId }), namespace, labels: buildLabels(key) };
    const volumeName = buildVolumeName(key);
    return { apiVersion: API_VERSION, kind: 'Session', metadata, spec: { ...key, sessionId, volumeName, ...spec } };
  }

  /** Undefined when the name is taken. */
  async #create<T>(plural: WritablePlural, body: object, signal?: AbortSignal): Promise<T | undefined> {
    const { kubernetes, namespace } = this.#options;
    const path = buildListPath(namespace, plural);
    try {
      return await kubernetes.request<T>({ method: 'POST', path, body, ...omitUndefined({ signal }) });
    } catch (error) {
      if (hasStatus(error, 409)) return undefined;
      throw error;
    }
  }

  #patch<T>(plural: WritablePlural, name: string, body: object): Promise<T> {
    const { kubernetes, namespace } = this.#options;
    return kubernetes.request<T>({ method: 'PATCH', path: buildPath(namespace, plural, name), body });
  }

  async #remove(plural: WritablePlural, name: string): Promise<void> {
    const { kubernetes, namespace } = this.#options;
    await kubernetes
      .request<unknown>({ method: 'DELETE', path: buildPath(namespace, plural, name) })
      .catch(ignoreMissing);
  }
}

/** A merge patch removes what is null; a new object leaves it out. */
function dropNull(spec: object): object {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== null));
}

function buildLabels(key: VolumeKey): Record<string, string> {
  return { [LABELS.agent]: buildAgentLabel(key), [LABELS.volume]: buildVolumeName(key) };
}

function ignoreMissing(error: unknown): undefined {
  if (!hasStatus(error, 404)) throw error;
}
