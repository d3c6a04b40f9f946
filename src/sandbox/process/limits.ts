// Tests: test/sandbox/process/limits.test.ts
import { totalmem } from 'node:os';

/** What sandboxes may use on one machine. */
export type SandboxLimits = {
  /** sandboxes that run at the same time */
  maxLive: number;
  /** of one sandbox, its files in memory included */
  memoryBytes: number;
  /** processes and threads of one sandbox */
  processes: number;
  /** `/tmp` of one sandbox, which is in memory */
  tmpBytes: number;
};

/** `sandbox` in `capstan.yaml`. */
export type LimitSettings = {
  maxLive?: number | undefined;
  memoryMiB?: number | undefined;
  processes?: number | undefined;
  tmpMiB?: number | undefined;
};

const MIB = 1024 * 1024;
/** What a sandbox uses while it does nothing: 45 MiB measured, and some more for what its calls leave behind. */
const IDLE_SANDBOX_BYTES = 64 * MIB;
const MIN_LIVE = 4;
const MIN_MEMORY_BYTES = 256 * MIB;
const DEFAULT_MEMORY_BYTES = 1024 * MIB;
const DEFAULT_PROCESSES = 512;

/** Memory in bytes that this process may use: the machine's, or less inside a container. */
function readMachineBytes(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(totalmem(), constrained) : totalmem();
}

/** By default idle sandboxes use a quarter of the memory at most, and one sandbox no more than a quarter or 1 GiB. */
export function decideLimits(settings: LimitSettings = {}, machineBytes = readMachineBytes()): SandboxLimits {
  const quarter = machineBytes / 4;
  const memoryBytes =
    settings.memoryMiB === undefined
      ? Math.floor(Math.min(DEFAULT_MEMORY_BYTES, Math.max(MIN_MEMORY_BYTES, quarter)))
      : settings.memoryMiB * MIB;
  return {
    maxLive: settings.maxLive ?? Math.max(MIN_LIVE, Math.floor(quarter / IDLE_SANDBOX_BYTES)),
    memoryBytes,
    processes: settings.processes ?? DEFAULT_PROCESSES,
    // a full /tmp must leave memory for the processes
    tmpBytes: settings.tmpMiB === undefined ? Math.floor(memoryBytes / 2) : settings.tmpMiB * MIB,
  };
}

export function formatMib(bytes: number): string {
  return `${Math.round(bytes / MIB)} MiB`;
}

/** The limits in force, for the log. */
export function describeLimits(limits: SandboxLimits, groups: { version: 1 | 2 } | undefined, volumeBytes: number) {
  return {
    maxLive: limits.maxLive,
    memory: formatMib(limits.memoryBytes),
    tmp: formatMib(limits.tmpBytes),
    processes: limits.processes,
    volume: formatMib(volumeBytes),
    enforcedBy: groups === undefined ? 'sampling' : `control groups v${groups.version}`,
  };
}
