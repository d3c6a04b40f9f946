// Tests: test/sandbox/process/limits.test.ts
import { execFile } from 'node:child_process';
import { statSync, statfsSync } from 'node:fs';
import { promisify } from 'node:util';
import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import { formatMib } from './limits.ts';
import type { SandboxLimits } from './limits.ts';
import { findDescendants, listProcesses, measureDeletedFiles, measureMemoryFiles } from './process-table.ts';
import type { ProcessRow } from './process-table.ts';

/** A sandbox that is running. */
export type Watched = {
  /** the volume's folder */
  volume: string;
  /** on the host: the first process of the sandbox */
  rootPid: number | undefined;
  /** its memory and processes are limited by the kernel */
  isGrouped: boolean;
  /** a command was run, so something that it left behind may be writing */
  isUsed: boolean;
  /** a call is in progress, or background processes were started */
  isActive: boolean;
  stop(reason: string): Promise<void>;
};

const CHECK_MS = 500;
/** The disk lost this much since the last count: somebody wrote, and who is found by counting. */
const MIN_GROWTH_BYTES = 8 * 1024 * 1024;
const COUNT_TIMEOUT_MS = 60_000;
/** Others may free what this volume takes, so an active one is counted anew after this time. */
const STALE_MS = 30_000;
/** A count is repeated after this many times what it took. */
const COUNT_SHARE = 5;

type Count = { bytes: number; freeBytes: number; atMs: number; costMs: number };

/**
 * Watches the sandboxes from outside: their volumes, and their memory and processes where the kernel does not limit them.
 * What is over a limit is stopped. Returns how to end the watch.
 */
export function startWatchdog(options: {
  list: () => Watched[];
  limits: SandboxLimits;
  maxVolumeBytes: number;
  log: Logger;
  onCount: (volume: string, bytes: number) => void;
}): () => void {
  const { limits, maxVolumeBytes, log } = options;
  const counts = new Map<string, Count>();
  let running = false;

  const stop = async (watched: Watched, reason: string): Promise<void> => {
    log.warn({ reason }, 'a sandbox is stopped');
    await watched.stop(`the sandbox was stopped: ${reason}`);
  };

  const checkMemory = async (watched: Watched, rows: readonly ProcessRow[]): Promise<boolean> => {
    if (watched.isGrouped || watched.rootPid === undefined) return false;
    const own = findDescendants(rows, watched.rootPid);
    const files = ['/tmp', '/dev/shm'].reduce((sum, path) => sum + measureMemoryFiles(watched.rootPid ?? 0, path), 0);
    const bytes = own.reduce((sum, { memoryBytes }) => sum + memoryBytes, files);
    if (bytes > limits.memoryBytes) {
      await stop(watched, `out of memory, it used more than ${formatMib(limits.memoryBytes)}`);
      return true;
    }
    if (own.length <= limits.processes) return false;
    await stop(watched, `it ran more than ${limits.processes} processes`);
    return true;
  };

  const checkVolume = async (watched: Watched, rows: () => readonly ProcessRow[]): Promise<void> => {
    const { volume } = watched;
    const freeBytes = readFreeBytes(volume);
    const last = counts.get(volume);
    if (last !== undefined) {
      const growth = Math.max(MIN_GROWTH_BYTES, (maxVolumeBytes - last.bytes) / 2);
      const ageMs = Date.now() - last.atMs;
      const mayHaveGrown = last.freeBytes - freeBytes >= growth || (watched.isActive && ageMs > STALE_MS);
      if (!mayHaveGrown || ageMs < last.costMs * COUNT_SHARE) return;
    }
    const begunMs = Date.now();
    const inTree = await countTree(volume);
    if (inTree === undefined) return;
    const pids = watched.rootPid === undefined ? [] : findDescendants(rows(), watched.rootPid).map(({ pid }) => pid);
    const bytes = inTree + measureDeletedFiles(pids, statSync(volume).dev);
    counts.set(volume, { bytes, freeBytes, atMs: Date.now(), costMs: Date.now() - begunMs });
    options.onCount(volume, inTree);
    // a sandbox whose volume was full before may still remove files
    if (last !== undefined && bytes > maxVolumeBytes && bytes > last.bytes) {
      await stop(watched, `its files are larger than the ${formatMib(maxVolumeBytes)} of its volume, remove some`);
    }
  };

  const check = async (): Promise<void> => {
    const all = options.list();
    const volumes = new Set(all.map(({ volume }) => volume));
    for (const volume of counts.keys()) if (!volumes.has(volume)) counts.delete(volume);
    let cached: ProcessRow[] | undefined;
    const rows = () => (cached ??= listProcesses());
    for (const watched of all) {
      if (!watched.isUsed) continue;
      if (!watched.isGrouped && (await checkMemory(watched, rows()))) continue;
      await checkVolume(watched, listProcesses).catch((error: unknown) => {
        log.debug({ error: errorText(error) }, 'a volume was not counted');
      });
    }
  };

  const timer = setInterval(() => {
    if (running) return;
    running = true;
    void check().finally(() => {
      running = false;
    });
  }, CHECK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function readFreeBytes(path: string): number {
  const { bsize, bfree } = statfsSync(path);
  return bfree * bsize;
}

/** Blocks on disk; undefined where it could not be counted in time. */
async function countTree(folder: string): Promise<number | undefined> {
  const args = ['-s', '-x', '--block-size=1', '--', folder];
  const { stdout } = await promisify(execFile)('du', args, { timeout: COUNT_TIMEOUT_MS }).catch((error: unknown) =>
    // du tells what it could count even where some folder cannot be read
    typeof error === 'object' && error !== null && 'stdout' in error && typeof error.stdout === 'string'
      ? { stdout: error.stdout }
      : { stdout: '' },
  );
  const bytes = Number.parseInt(stdout, 10);
  return Number.isNaN(bytes) ? undefined : bytes;
}
