import { accessSync, constants, existsSync, mkdirSync, realpathSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { dirname } from 'node:path';
import { INITIAL_VOLUME_BYTES, MAX_VOLUME_BYTES } from '../volume-size.ts';
import { untilAborted } from '../../platform/abort.ts';
import { errorText } from '../../platform/errors.ts';
import { startExecutorChild, removeStaleFolders } from './executor-child.ts';
import type { ExecutorChild } from './executor-child.ts';
import { findProgram } from './find-program.ts';
import { buildVolumeFiles } from '../executor/files.ts';
import { guardSession, guardVolumeFiles } from '../executor/guard.ts';
import { deleteFolders } from './delete-folders.ts';
import { ExecutorPool } from './executor-pool.ts';
import { waitStarted } from './pooled-executor.ts';
import type { PooledExecutor } from './pooled-executor.ts';
import { buildGuard, describeWatched, explainOutOfMemory, keepActiveWhileOpen } from './executor-use.ts';
import { openControlGroups } from './control-groups.ts';
import type { ControlGroups } from './control-groups.ts';
import { listSandboxes } from './list-sandboxes.ts';
import { decideLimits, describeLimits } from './limits.ts';
import type { SandboxLimits } from './limits.ts';
import { startWatchdog } from './watchdog.ts';
import { buildLocalFiles } from './local-files.ts';
import { SandboxCapacityError, SandboxError } from '../sandbox.ts';
import type {
  SandboxNotice,
  SandboxSession,
  SandboxTarget,
  Sandboxes,
  VolumeFiles,
  VolumeInfo,
  VolumeKey,
} from '../sandbox.ts';
import { createVolume, decideSize, findRecord, recordPath, recordUsage } from './volume-record.ts';
import type { VolumeSizes } from './volume-record.ts';
import { sessionKey, volumeFolder } from './volumes.ts';
import { chooseBubblewrap, openVolumeOwners } from './owners.ts';
import type { VolumeOwners } from './owners.ts';
import { DEFAULT_UIDS } from './identity.ts';
import type { ProcessSandboxOptions } from './options.ts';
import { findSealFolder, sealProgram } from './sealed-program.ts';

const IDLE_MS = 15 * 60_000;
/** A running sandbox costs about 50 MiB, starting it again less than half a second. */
const SUSPEND_MS = 30_000;
const STANDBY_IDLE_MS = 5 * 60_000;
const MAX_STANDBYS = 16;
/** How long a session waits for one of the sandboxes that may run. */
const LIVE_WAIT_MS = 30_000;
/** How long a file call waits for its executor to start. */
const VOLUME_WAIT_MS = 10_000;

/** bubblewrap is searched for here, independently of PATH. */
const BWRAP_PLACES = ['/usr/bin', '/usr/local/bin', '/bin', '/run/current-system/sw/bin'];

export const NO_BUBBLEWRAP =
  'Sandboxes on this machine need bubblewrap, which is not installed. Install it with "apt-get install bubblewrap" ' +
  '(or dnf, apk, pacman), or set CAPSTAN_SANDBOX_UNWRAPPED=i-accept-the-risk to let agents run commands as this ' +
  'user, without any isolation.';

/**
 * One isolated executor per session, started at its first `acquire` and stopped after 15 idle minutes; after 30 s when it
 * holds nothing but the state of its shells, with which the session's next executor starts. Sessions of a subject share the volume's files, but not processes, working directory or environment. Without a session a standby
 * serves the files (at most 16, each for 5 idle minutes); the subject's next session adopts it.
 */
export async function openProcessSandboxes(options: ProcessSandboxOptions): Promise<Sandboxes> {
  mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  removeStaleFolders();
  const { uids = DEFAULT_UIDS, allowUnwrapped } = options;
  const found = findProgram(options.bwrapPlaces ?? BWRAP_PLACES, 'bwrap');
  const bwrapPath = await chooseBubblewrap({ bwrapPath: found, uids, allowUnwrapped });
  const local = new ProcessSandboxes(options, { dir: realpathSync(options.dir), bwrapPath });
  return {
    // Executors start quickly and are listed nowhere, so these two hints need no action.
    announce: async () => undefined,
    prepare: async () => undefined,
    acquire: (target, signal) => local.acquire(target, signal),
    warm: (key) => local.warm(key),
    list: async (organizationId) => local.list(organizationId),
    remove: (target) => local.remove(target),
    openVolume: (key, { create }) => local.openVolume(key, create),
    describeVolume: (key) => local.describeVolume(key),
    deleteVolume: (key) => local.deleteVolume(key),
    deleteVolumes: (agent) => local.deleteVolumes(agent),
    onNotice: (handler) => void local.handlers.add(handler),
    ping: async () => accessSync(options.dir, constants.W_OK),
    close: () => local.close(),
  };
}

class ProcessSandboxes {
  readonly #options: ProcessSandboxOptions;
  readonly #dir: string;
  readonly #bwrapPath: string | undefined;
  readonly #owners: VolumeOwners;
  readonly #waitMs: number;
  readonly #sizes: VolumeSizes;
  readonly handlers = new Set<(notice: SandboxNotice) => void>();
  /** bytes in use by volume folder, as executors reported last */
  readonly #usage = new Map<string, number>();
  readonly #pool: ExecutorPool;
  readonly #limits: SandboxLimits;
  readonly #groups: ControlGroups | undefined;
  readonly #stopWatchdog: () => void;
  #closed = false;

  constructor(options: ProcessSandboxOptions, { dir, bwrapPath }: { dir: string; bwrapPath: string | undefined }) {
    this.#options = options;
    this.#limits = decideLimits(options.limits);
    this.#groups = options.controlGroups === false ? undefined : openControlGroups(this.#limits);
    this.#dir = dir;
    this.#bwrapPath = bwrapPath;
    this.#owners = openVolumeOwners(dir, options.uids ?? DEFAULT_UIDS);
    this.#waitMs = options.volumeWaitMs ?? VOLUME_WAIT_MS;
    this.#sizes = {
      initialBytes: options.initialVolumeBytes ?? INITIAL_VOLUME_BYTES,
      maxBytes: options.maxVolumeBytes ?? MAX_VOLUME_BYTES,
    };
    this.#pool = new ExecutorPool({
      start: (volume) => this.#startExecutor(volume),
      onNotice: (notice) => this.handlers.forEach((handler) => handler(notice)),
      onStop: (volume) => this.#onStop(volume),
      idleMs: options.idleMs ?? IDLE_MS,
      suspendMs: options.suspendMs ?? SUSPEND_MS,
      standbyIdleMs: options.standbyIdleMs ?? STANDBY_IDLE_MS,
      maxStandbys: options.maxStandbys ?? MAX_STANDBYS,
      maxLive: this.#limits.maxLive,
      liveWaitMs: options.liveWaitMs ?? LIVE_WAIT_MS,
      log: options.log,
    });
    this.#stopWatchdog = startWatchdog({
      list: () => this.#pool.list().flatMap(describeWatched),
      limits: this.#limits,
      maxVolumeBytes: this.#sizes.maxBytes,
      log: options.log,
      onCount: (volume, bytes) => this.#onUsage(volume, bytes),
    });
    options.log.info(describeLimits(this.#limits, this.#groups, this.#sizes.maxBytes), 'limits of sandboxes');
  }

  readonly list = (organizationId: string) => listSandboxes(this.#pool.list(), organizationId, this.#usage);

  async acquire(target: SandboxTarget, signal: AbortSignal): Promise<SandboxSession> {
    signal.throwIfAborted();
    this.#assertOpen();
    const volume = volumeFolder(this.#dir, target);
    createVolume(volume, this.#sizes);
    const session = { key: sessionKey(target), id: target.sessionId };
    const executor = await this.#pool.acquireForSession(volume, session, signal);
    executor.usedMs = Date.now();
    // Only this caller stops waiting; the start continues for later ones.
    const child = await untilAborted(executor.child, signal).catch((error: unknown) => {
      throw error === signal.reason ? new SandboxError('cancelled while the sandbox started') : error;
    });
    await this.#pool.resume(executor, child);
    if (child.isAlive()) {
      const commands = explainOutOfMemory(child, this.#limits.memoryBytes);
      return guardSession({ ...child.client, ...commands }, buildGuard(executor, child));
    }
    this.#pool.forget(executor);
    return this.acquire(target, signal);
  }

  async warm(key: VolumeKey): Promise<void> {
    this.#assertOpen();
    const volume = volumeFolder(this.#dir, key);
    createVolume(volume, this.#sizes);
    const executor = await this.#pool.startStandby(volume, 0);
    if (executor !== undefined) executor.usedMs = Date.now();
  }

  async remove(target: SandboxTarget): Promise<void> {
    const session = sessionKey(target);
    this.#pool.forgetState(({ key }) => key === session);
    const executor = this.#pool.findSession(session);
    if (executor !== undefined) await this.#pool.stop(executor);
  }

  async openVolume(key: VolumeKey, create: boolean): Promise<VolumeFiles | undefined> {
    const volume = volumeFolder(this.#dir, key);
    // A running executor implies that the volume exists.
    if (this.#pool.findForFiles(volume) === undefined) {
      if (!create && !existsSync(volume)) return undefined;
      this.#assertOpen();
      createVolume(volume, this.#sizes);
    }
    const { executor, child } = await this.#openExecutor(volume);
    executor.files ??= guardVolumeFiles(this.#buildFiles(executor, child), buildGuard(executor, child));
    return executor.files;
  }

  async describeVolume(key: VolumeKey): Promise<VolumeInfo | undefined> {
    const volume = volumeFolder(this.#dir, key);
    if (!existsSync(volume)) return undefined;
    const status = await this.#measure(volume);
    const record = findRecord(volume) ?? createVolume(volume, this.#sizes);
    return {
      status,
      sizeBytes: record.sizeBytes,
      usedBytes: this.#usage.get(volume) ?? record.usedBytes,
      createdAt: new Date(record.createdAt),
      updatedAt: new Date(record.updatedAt),
    };
  }

  async deleteVolume(key: VolumeKey): Promise<void> {
    const folder = volumeFolder(this.#dir, key);
    await deleteFolders(this.#pool, ({ volume }) => volume === folder, [folder, recordPath(folder)]);
  }

  async deleteVolumes(agent: Omit<VolumeKey, 'subjectId'>): Promise<void> {
    const folder = dirname(volumeFolder(this.#dir, { ...agent, subjectId: '' }));
    await deleteFolders(this.#pool, ({ volume }) => dirname(volume) === folder, [folder]);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#stopWatchdog();
    this.#pool.close();
    await this.#pool.stopAll();
  }

  #assertOpen(): void {
    if (this.#closed) throw new SandboxError('the sandboxes are closed');
    if (this.#bwrapPath === undefined && !this.#options.allowUnwrapped) throw new SandboxError(NO_BUBBLEWRAP);
  }

  async #startExecutor(volume: string): Promise<ExecutorChild> {
    const nodePath = realpathSync(process.execPath);
    const [uid, sealedNodePath] = await Promise.all([
      this.#owners.ownerOf(volume),
      sealProgram(nodePath, findSealFolder(this.#dir)),
    ]);
    return startExecutorChild({
      bwrapPath: this.#bwrapPath,
      uid,
      network: this.#options.network,
      volume,
      nodePath,
      sealedNodePath,
      rgPath: realpathSync(this.#options.rgPath),
      volumeBytes: this.#sizes.maxBytes,
      tmpBytes: this.#limits.tmpBytes,
      maxProcesses: this.#limits.processes,
      group: this.#bwrapPath === undefined ? undefined : this.#groups?.create(),
    });
  }

  /** A started executor that serves the volume's files. */
  async #openExecutor(volume: string): Promise<{ executor: PooledExecutor; child: ExecutorChild }> {
    this.#assertOpen();
    const executor = this.#pool.findForFiles(volume) ?? (await this.#pool.startStandby(volume, this.#waitMs));
    if (executor === undefined) throw new SandboxCapacityError('too many volumes are in use at once');
    executor.usedMs = Date.now();
    const child = await waitStarted(executor, this.#waitMs);
    if (child.isAlive()) return { executor, child };
    this.#pool.forget(executor);
    return this.#openExecutor(volume);
  }

  #buildFiles(executor: PooledExecutor, { client, link }: ExecutorChild): VolumeFiles {
    const { volume } = executor;
    const hooks = {
      onUsage: (bytes: number) => this.#onUsage(volume, bytes),
      onBody: (body: Readable) => keepActiveWhileOpen(executor, body),
    };
    const slow = buildVolumeFiles(client, hooks);
    return { ...slow, ...buildLocalFiles({ ...hooks, link, slow, folder: volume, workspace: client.workspace }) };
  }

  /** The record is written only when the volume's size changes; `#onStop` writes the rest. */
  #onUsage(volume: string, bytes: number): void {
    const before = this.#usage.get(volume) ?? 0;
    this.#usage.set(volume, bytes);
    const { initialBytes, maxBytes } = this.#sizes;
    const size = (used: number): number => decideSize(initialBytes, used, maxBytes);
    if (size(bytes) !== size(before)) recordUsage(volume, bytes, this.#sizes);
  }

  #onStop(volume: string): void {
    const bytes = this.#usage.get(volume);
    this.#usage.delete(volume);
    if (bytes !== undefined) recordUsage(volume, bytes, this.#sizes);
  }

  async #measure(volume: string): Promise<VolumeInfo['status']> {
    if (this.#pool.isStarting(volume)) return 'warming';
    try {
      const { child } = await this.#openExecutor(volume);
      const { usedBytes } = await child.client.call('usage', {}, { timeoutMs: this.#waitMs });
      this.#usage.set(volume, usedBytes);
      recordUsage(volume, usedBytes, this.#sizes);
      return 'ready';
    } catch (error) {
      if (this.#pool.isStarting(volume)) return 'warming';
      this.#options.log.warn({ error: errorText(error) }, 'a volume cannot be reached');
      return 'unavailable';
    }
  }
}
