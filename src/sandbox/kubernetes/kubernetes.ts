// Tests: test/cluster/sandbox.test.ts, test/cluster/sandbox-suite.test.ts
import type { Session } from '../resources/session.ts';
import { MAX_STANDBY_MS } from '../resources/volume.ts';
import { isTransient } from '../../platform/kubernetes/client.ts';
import { buildVolumeFiles } from '../executor/files.ts';
import { guardSession, guardVolumeFiles } from '../executor/guard.ts';
import { ActivityReporter } from './activity.ts';
import { Connections } from './connections.ts';
import type { Connection } from './connections.ts';
import { listSandboxes } from './list-sandboxes.ts';
import { buildSessionName, buildVolumeName } from './names.ts';
import { Resources } from './resources.ts';
import type { ResourcesOptions } from './resources.ts';
import {
  assertNotRefused,
  buildVolumeInfo,
  describeStartError,
  describeUnserved,
  UNREACHABLE,
  findServingPod,
  findSessionPod,
  readMessage,
} from './status.ts';
import { openUsageReporter } from './usage.ts';
import { SandboxError } from '../sandbox.ts';
import type {
  SandboxNotice,
  SandboxSession,
  SandboxTarget,
  Sandboxes,
  VolumeFiles,
  VolumeInfo,
  VolumeKey,
} from '../sandbox.ts';
import type { Signer } from '../executor/token.ts';

/** How long a call waits while its pod starts, and a file call for a pod that serves its volume. */
const [START_MS, VOLUME_WAIT_MS] = [120_000, 10_000];
const STANDBY_MS = 5 * 60_000;
/** Announcing a session is optional, so its creation waits no longer than this. */
const ANNOUNCE_MS = 5000;
/** Activity of a session is reported at most this often, and at most this long after a call. */
const TOUCH_MS = 60_000;
const [POLL_MS, CHANGE_MS, RETRY_MS, USAGE_TIMEOUT_MS] = [50, 1000, 500, 5000];

export type KubernetesSandboxOptions = Omit<ResourcesOptions, 'publicKey'> & {
  signer: Signer;
  startMs?: number;
  volumeWaitMs?: number;
  touchMs?: number;
  announceMs?: number;
};

/**
 * One pod per session, created by the operator for the resources that are written here. A call waits while its pod
 * starts. When the pod dies the call fails, and the next `acquire` gets a new pod on the same volume. While the API
 * server is unreachable, calls to running pods continue and everything else waits.
 */
export async function openKubernetesSandboxes(options: KubernetesSandboxOptions): Promise<Sandboxes> {
  const pods = new KubernetesSandboxes(options);
  await pods.synced();
  return {
    announce: (target) => pods.announce(target),
    prepare: (target) => pods.prepare(target),
    acquire: (target, signal) => pods.acquire(target, signal),
    warm: (key) => pods.warm(key),
    list: async (organizationId) => pods.list(organizationId),
    remove: (target) => pods.remove(target),
    openVolume: (key, { create }) => pods.openVolume(key, create),
    describeVolume: (key) => pods.describeVolume(key),
    deleteVolume: (key) => pods.deleteVolume(key),
    deleteVolumes: (agent) => pods.deleteVolumes(agent),
    onNotice: (handler) => void pods.handlers.add(handler),
    ping: async () => void (await options.kubernetes.request({ method: 'GET', path: '/version' })),
    close: () => pods.close(),
  };
}

class KubernetesSandboxes {
  readonly #options: KubernetesSandboxOptions;
  readonly #resources: Resources;
  readonly #connections: Connections;
  readonly #activity: ActivityReporter;
  readonly #usage: ReturnType<typeof openUsageReporter>;
  readonly handlers = new Set<(notice: SandboxNotice) => void>();
  /** sessions that `prepare` has woken and no call has used yet, by name */
  readonly #prepared = new Map<string, Promise<Session | undefined>>();
  #closed = false;

  constructor(options: KubernetesSandboxOptions) {
    this.#options = options;
    const { signer, log, touchMs = TOUCH_MS } = options;
    this.#resources = new Resources({ ...options, publicKey: signer.publicKey });
    this.#connections = new Connections(signer, (notice) => this.handlers.forEach((handler) => handler(notice)));
    this.#activity = new ActivityReporter({
      resources: this.#resources,
      connections: this.#connections,
      log,
      touchMs,
    });
    this.#usage = openUsageReporter(this.#resources, log);
    this.#resources.sessions.onChange((name, session, before) => this.#onSessionChange(name, session, before));
  }

  async synced(): Promise<void> {
    await Promise.all([this.#resources.sessions.synced, this.#resources.volumes.synced]);
  }

  readonly list = (organizationId: string) => listSandboxes(this.#resources, organizationId);

  async announce(target: SandboxTarget): Promise<void> {
    this.#assertOpen();
    if (this.#resources.sessions.get(buildSessionName(target)) !== undefined) return;
    const signal = AbortSignal.timeout(this.#options.announceMs ?? ANNOUNCE_MS);
    await this.#resources.announceSession(target, signal);
  }

  async prepare(target: SandboxTarget): Promise<void> {
    this.#assertOpen();
    const name = buildSessionName(target);
    const woken = this.#wake(name, target);
    this.#prepared.set(
      name,
      woken.catch(() => undefined),
    );
    await woken;
  }

  async acquire(target: SandboxTarget, signal: AbortSignal): Promise<SandboxSession> {
    this.#assertOpen(signal);
    const name = buildSessionName(target);
    const running = this.#findRunning(name);
    const isFresh = this.#activity.isFresh(name);
    if (running !== undefined && isFresh) return this.#guardSession(running, target);
    const prepared = isFresh ? this.#prepared.get(name) : undefined;
    this.#prepared.delete(name);
    const deadline = Date.now() + (this.#options.startMs ?? START_MS);
    for (;;) {
      try {
        const session = (await prepared) ?? (await this.#wake(name, target));
        return await this.#waitStarted(target, session, deadline, signal);
      } catch (error) {
        if (error instanceof SandboxError || !isTransient(error)) throw describeStartError(error);
        if (running !== undefined) {
          // The API server does not respond; the next round reports the activity.
          this.#activity.track(name, target, -Infinity);
          return this.#guardSession(running, target);
        }
        if (Date.now() > deadline) {
          throw new SandboxError(`the sandbox did not start: ${UNREACHABLE}`, { cause: error });
        }
      }
      await this.#resources.changed(RETRY_MS);
      this.#assertOpen(signal);
    }
  }

  async warm(key: VolumeKey): Promise<void> {
    const until = Date.parse(this.#resources.volumes.get(buildVolumeName(key))?.spec.standbyUntil ?? '');
    const remainingMs = until - Date.now();
    if (remainingMs > STANDBY_MS / 2 && remainingMs < MAX_STANDBY_MS - STANDBY_MS) return;
    const standbyUntil = new Date(Date.now() + STANDBY_MS).toISOString();
    await this.#resources.ensureVolume(key, { standbyUntil });
  }

  async remove(target: SandboxTarget): Promise<void> {
    const name = buildSessionName(target);
    this.#connections.disconnect(this.#resources.sessions.get(name)?.status?.podUid);
    this.#forget(name);
    await this.#resources.removeSession(name);
  }

  async openVolume(key: VolumeKey, create: boolean): Promise<VolumeFiles | undefined> {
    this.#assertOpen();
    if (!create && this.#resources.volumes.get(buildVolumeName(key)) === undefined) return undefined;
    const connection = await this.#connectVolume(key);
    const files = buildVolumeFiles(connection.client, {
      onUsage: () => undefined,
      onBody(body) {
        connection.active += 1;
        body.once('close', () => (connection.active -= 1));
      },
    });
    return guardVolumeFiles(files, this.#buildGuard(connection, key));
  }

  async describeVolume(key: VolumeKey): Promise<VolumeInfo | undefined> {
    const volume = this.#resources.volumes.get(buildVolumeName(key));
    if (volume === undefined) return undefined;
    const connection = this.#connections.get(findServingPod(this.#resources, volume.metadata.name)?.podUid);
    const usage = await connection?.client.call('usage', {}, { timeoutMs: USAGE_TIMEOUT_MS }).catch(() => undefined);
    return buildVolumeInfo(volume, usage?.usedBytes);
  }

  deleteVolume(key: VolumeKey): Promise<void> {
    return this.#resources.removeVolume(key);
  }

  async deleteVolumes(agent: Omit<VolumeKey, 'subjectId'>): Promise<void> {
    await this.#resources.removeAgent(agent);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#activity.close();
    this.#connections.close();
    await this.#resources.close();
  }

  #assertOpen(signal?: AbortSignal): void {
    if (this.#closed) throw new SandboxError('the sandboxes are closed');
    if (signal?.aborted === true) throw new SandboxError('cancelled while the sandbox started');
  }

  #onSessionChange(name: string, session: Session | undefined, before: Session | undefined): void {
    const podUid = before?.status?.podUid;
    if (podUid !== undefined && podUid !== session?.status?.podUid) this.#connections.disconnect(podUid);
    if (session === undefined) this.#forget(name);
  }

  #forget(name: string): void {
    this.#activity.forget(name);
    this.#prepared.delete(name);
  }

  /** The connection to the session's pod, unless a call on it has failed. */
  #findRunning(name: string): Connection | undefined {
    const connection = this.#connections.get(findSessionPod(this.#resources.sessions.get(name))?.podUid);
    return connection?.suspect === false ? connection : undefined;
  }

  #buildGuard(connection: Connection, key: VolumeKey) {
    return this.#connections.buildGuard(connection, () => this.#usage.check(buildVolumeName(key), connection));
  }

  #guardSession(connection: Connection, target: SandboxTarget): SandboxSession {
    return guardSession(connection.client, this.#buildGuard(connection, target));
  }

  /** Requests a pod for the session, which counts as its activity. */
  async #wake(name: string, target: SandboxTarget): Promise<Session> {
    await this.#resources.ensureVolume(target);
    const startedMs = Date.now();
    const session = await this.#resources.wakeSession(target);
    this.#activity.track(name, target, startedMs);
    return session;
  }

  async #waitStarted(
    target: SandboxTarget,
    woken: Session,
    deadline: number,
    signal: AbortSignal,
  ): Promise<SandboxSession> {
    const { name, uid } = woken.metadata;
    const startedMs = Date.now();
    let session = woken;
    for (;;) {
      this.#assertOpen(signal);
      const address = findSessionPod(session);
      const connection = address === undefined ? undefined : await this.#connections.connect(address);
      if (connection !== undefined) {
        this.#connections.follow(connection, target.sessionId);
        return this.#guardSession(connection, target);
      }
      assertNotRefused(session, startedMs);
      if (Date.now() > deadline) {
        throw new SandboxError(`the sandbox did not start: ${readMessage(session) ?? 'no operator has handled it'}`);
      }
      await this.#resources.changed(address === undefined ? CHANGE_MS : POLL_MS);
      const cached = this.#resources.sessions.get(name);
      if (cached?.metadata.uid === uid) session = cached;
      // A start may take longer than the session may be idle, and another process may have deleted the volume meanwhile.
      if (this.#activity.isFresh(name)) await this.#resources.ensureVolume(target);
      else await this.#wake(name, target);
    }
  }

  async #connectVolume(key: VolumeKey): Promise<Connection> {
    const name = buildVolumeName(key);
    const startedMs = Date.now();
    const deadline = startedMs + (this.#options.volumeWaitMs ?? VOLUME_WAIT_MS);
    for (;;) {
      this.#assertOpen();
      let failure: unknown;
      await this.warm(key).catch((error: unknown) => {
        if (!isTransient(error)) throw describeStartError(error);
        failure = error;
      });
      const address = findServingPod(this.#resources, name);
      const connection = address === undefined ? undefined : await this.#connections.connect(address);
      if (connection !== undefined) return connection;
      const volume = this.#resources.volumes.get(name);
      assertNotRefused(volume, startedMs);
      if (Date.now() > deadline) throw describeUnserved(volume, failure);
      await this.#resources.changed(address === undefined ? CHANGE_MS : POLL_MS);
    }
  }
}
