import { accessSync, constants, existsSync, mkdirSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { delimiter, dirname, join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { INITIAL_VOLUME_BYTES, MAX_VOLUME_BYTES } from '../volume-size.ts';
import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import { untilAborted } from '../../platform/abort.ts';
import { startExecutorChild, sweepFolders } from './executor-child.ts';
import type { ExecutorChild } from './executor-child.ts';
import { buildVolumeFiles } from '../executor/files.ts';
import { openExecutorPool, waitStarted } from './executor-pool.ts';
import type { Entry } from './executor-pool.ts';
import { buildLocalFiles } from './local-files.ts';
import { SandboxError } from '../sandbox.ts';
import type { SandboxNotice, SandboxTarget, Sandboxes, VolumeFiles, VolumeInfo, VolumeKey } from '../sandbox.ts';
import { createVolume, decideSize, findRecord, noteUsage } from './volume-record.ts';
import { volumeFolder } from './volumes.ts';

const IDLE_MS = 15 * 60_000;
const STANDBY_IDLE_MS = 5 * 60_000;
const MAX_STANDBYS = 16;
/** How long a file call waits for a volume that warms up. */
const VOLUME_WAIT_MS = 10_000;
const DEATH_MS = 1000;

/** bubblewrap is looked for here, whatever PATH says. */
const BWRAP_PLACES = ['/usr/bin', '/usr/local/bin', '/bin', '/run/current-system/sw/bin'];

export const NO_BUBBLEWRAP =
  'Sandboxes on this machine need bubblewrap, which is not installed. Install it with "apt-get install bubblewrap" ' +
  '(or dnf, apk, pacman), or set CAPSTAN_SANDBOX_UNWRAPPED=i-accept-the-risk to let agents run commands as this ' +
  'user, without any isolation.';

export type ProcessSandboxOptions = {
  dir: string;
  network: 'none' | 'host';
  rgPath: string;
  allowUnwrapped: boolean;
  log: Logger;
  /** where to look for bubblewrap */
  bwrapPlaces?: string[];
  idleMs?: number;
  standbyIdleMs?: number;
  maxStandbys?: number;
  volumeWaitMs?: number;
  initialVolumeBytes?: number;
  maxVolumeBytes?: number;
};

/**
 * One wrapped executor a session, started at its first `acquire`, stopped after 15 idle minutes. Sessions of a subject
 * share the volume's files, not their processes, working directory or environment. Without a session a standby serves
 * the files, at most 16 of them and for 5 idle minutes each; the subject's next session adopts it.
 */
export async function openProcessSandboxes(options: ProcessSandboxOptions): Promise<Sandboxes> {
  mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  sweepFolders();
  const dir = realpathSync(options.dir);
  const handlers = new Set<(notice: SandboxNotice) => void>();
  const bwrapPath = findProgram(options.bwrapPlaces ?? BWRAP_PLACES, 'bwrap');
  const waitMs = options.volumeWaitMs ?? VOLUME_WAIT_MS;
  const sizes = {
    initialBytes: options.initialVolumeBytes ?? INITIAL_VOLUME_BYTES,
    maxBytes: options.maxVolumeBytes ?? MAX_VOLUME_BYTES,
  };
  /** by volume, as told by executors that run or have run */
  const used = new Map<string, number>();
  let closed = false;

  const pool = openExecutorPool({
    start: (volume) =>
      startExecutorChild({
        bwrapPath,
        network: options.network,
        volume,
        nodePath: realpathSync(process.execPath),
        rgPath: realpathSync(options.rgPath),
        volumeBytes: sizes.maxBytes,
      }),
    onNotice: (notice) => handlers.forEach((handler) => handler(notice)),
    onStop(volume) {
      const bytes = used.get(volume);
      used.delete(volume);
      if (bytes !== undefined) noteUsage(volume, bytes, sizes);
    },
    idleMs: options.idleMs ?? IDLE_MS,
    standbyIdleMs: options.standbyIdleMs ?? STANDBY_IDLE_MS,
    maxStandbys: options.maxStandbys ?? MAX_STANDBYS,
    log: options.log,
  });

  const requireOpen = (): void => {
    if (closed) throw new SandboxError('the sandboxes are closed');
    if (bwrapPath === undefined && !options.allowUnwrapped) throw new SandboxError(NO_BUBBLEWRAP);
  };

  const acquire: Sandboxes['acquire'] = async (target, signal) => {
    signal.throwIfAborted();
    requireOpen();
    const volume = volumeFolder(dir, target);
    createVolume(volume, sizes);
    const entry = pool.takeForSession(volume, { key: sessionKey(target), id: target.sessionId });
    entry.usedMs = Date.now();
    // The start goes on for the next caller; only this one stops waiting.
    const child = await untilAborted(entry.child, signal).catch((error: unknown) => {
      throw error === signal.reason ? new SandboxError('cancelled while the sandbox started') : error;
    });
    if (child.isAlive()) return trackUse(entry, child, child.client);
    pool.forget(entry);
    return acquire(target, signal);
  };

  /** The executor that serves a volume's files, up and running. */
  const openExecutor = async (volume: string): Promise<{ entry: Entry; child: ExecutorChild }> => {
    requireOpen();
    const entry = pool.findForFiles(volume) ?? (await pool.startStandby(volume, waitMs));
    if (entry === undefined) throw new SandboxError('too many volumes are in use at once');
    entry.usedMs = Date.now();
    const child = await waitStarted(entry, waitMs);
    if (child.isAlive()) return { entry, child };
    pool.forget(entry);
    return openExecutor(volume);
  };

  const note = (volume: string, bytes: number): void => {
    const before = used.get(volume) ?? 0;
    used.set(volume, bytes);
    const size = (count: number): number => decideSize(sizes.initialBytes, count, sizes.maxBytes);
    if (size(bytes) !== size(before)) noteUsage(volume, bytes, sizes);
  };

  const buildFiles = (entry: Entry, { client, link }: ExecutorChild): VolumeFiles => {
    const { volume } = entry;
    const told = {
      onUsage: (bytes: number) => note(volume, bytes),
      onBody: (body: Readable) => holdWhileOpen(entry, body),
    };
    const slow = buildVolumeFiles(client, told);
    return { ...slow, ...buildLocalFiles({ ...told, link, slow, folder: volume, workspace: client.workspace }) };
  };

  return {
    // An executor starts in a moment, and nobody looks for one that does not run.
    announce: async () => undefined,
    prepare: async () => undefined,
    acquire,
    async warm(key) {
      requireOpen();
      const volume = volumeFolder(dir, key);
      createVolume(volume, sizes);
      const entry = await pool.startStandby(volume, 0);
      if (entry !== undefined) entry.usedMs = Date.now();
    },
    async openVolume(key, { create }) {
      const volume = volumeFolder(dir, key);
      // an executor at work has its volume
      if (pool.findForFiles(volume) === undefined) {
        if (!create && !existsSync(volume)) return undefined;
        requireOpen();
        createVolume(volume, sizes);
      }
      const { entry, child } = await openExecutor(volume);
      entry.files ??= trackUse(entry, child, buildFiles(entry, child));
      return entry.files;
    },
    describeVolume: (key) => describeVolume(key),
    async remove(target) {
      const entry = pool.findSession(sessionKey(target));
      if (entry !== undefined) await pool.stop(entry);
    },
    async deleteVolumes(agent) {
      const folder = dirname(volumeFolder(dir, { ...agent, subjectId: '' }));
      // Twice: between the end of the executors and that of the files another one may have started.
      for (let round = 0; round < 2; round += 1) {
        await pool.stopAll((entry) => dirname(entry.volume) === folder);
        await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      }
    },
    onNotice(handler) {
      handlers.add(handler);
    },
    async ping() {
      accessSync(dir, constants.W_OK);
    },
    async close() {
      closed = true;
      pool.close();
      await pool.stopAll();
    },
  };

  async function describeVolume(key: VolumeKey): Promise<VolumeInfo | undefined> {
    const volume = volumeFolder(dir, key);
    if (!existsSync(volume)) return undefined;
    const status = await measureVolume(volume);
    const record = findRecord(volume) ?? createVolume(volume, sizes);
    return {
      status,
      sizeBytes: record.sizeBytes,
      usedBytes: used.get(volume) ?? record.usedBytes,
      createdAt: new Date(record.createdAt),
      updatedAt: new Date(record.updatedAt),
    };
  }

  async function measureVolume(volume: string): Promise<VolumeInfo['status']> {
    if (pool.isStarting(volume)) return 'warming';
    try {
      const { child } = await openExecutor(volume);
      const { usedBytes } = await child.client.call('usage', {}, { timeoutMs: waitMs });
      used.set(volume, usedBytes);
      noteUsage(volume, usedBytes, sizes);
      return 'ready';
    } catch (error) {
      if (pool.isStarting(volume)) return 'warming';
      options.log.warn({ error: errorText(error) }, 'a volume cannot be reached');
      return 'unavailable';
    }
  }
}

function sessionKey(target: SandboxTarget): string {
  return JSON.stringify([target.organizationId, target.agentId, target.subjectId, target.sessionId]);
}

/** A body that is still read keeps its executor from being stopped as idle. */
function holdWhileOpen(entry: Entry, body: Readable): void {
  entry.active += 1;
  body.once('close', () => {
    entry.active -= 1;
    entry.usedMs = Date.now();
  });
}

/** The methods of a client, each noting that the sandbox is in use. */
function trackUse<T extends object>(entry: Entry, child: ExecutorChild, client: T): T {
  return new Proxy(client, {
    get(client, name, receiver) {
      const member: unknown = Reflect.get(client, name, receiver);
      if (typeof member !== 'function') return member;
      return async (...args: unknown[]) => {
        if (!child.isAlive()) throw new SandboxError('the sandbox has ended; acquire it again');
        entry.active += 1;
        try {
          return await (member as (...args: unknown[]) => Promise<unknown>)(...args);
        } catch (error) {
          // the connection breaks a moment before the death is known: whoever acquires next must not get a dying one
          if (error instanceof SandboxError) await Promise.race([child.ended, setTimeout(DEATH_MS)]);
          throw error;
        } finally {
          entry.active -= 1;
          entry.usedMs = Date.now();
        }
      };
    },
  });
}

function findProgram(places: string[], name: string): string | undefined {
  return places
    .flatMap((place) => place.split(delimiter))
    .map((place) => resolve(join(place, name)))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
