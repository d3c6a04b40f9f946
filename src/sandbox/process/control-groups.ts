// Tests: test/sandbox/process/limits.test.ts
import { existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SandboxLimits } from './limits.ts';

/** One sandbox's control group: the kernel enforces its memory and number of processes. */
export type ControlGroup = {
  /** a process joins by writing its id to each of these files */
  joinFiles: readonly string[];
  /** processes that the kernel killed for want of memory */
  countOomKills(): number;
  /** The processes have ended, or end soon. */
  remove(): Promise<void>;
};

export type ControlGroups = { version: 1 | 2; create(): ControlGroup };

const ROOT = '/sys/fs/cgroup';
const SERVER_GROUP = 'capstan-server';
const REMOVE_ROUNDS = 100;
const REMOVE_PAUSE_MS = 50;

let counter = 0;

type Layout = {
  version: 1 | 2;
  /** folders below which groups are created */
  parents: readonly string[];
  /** values by file name; a file that the kernel does not have is left out */
  values: Readonly<Record<string, string>>;
  required: readonly string[];
  oom: { file: string; pattern: RegExp };
};

/**
 * Groups below this process's own. Undefined where it may not create any; the caller then has to watch the sandboxes
 * itself. Removes the groups of processes that were killed before they could.
 */
export function openControlGroups(limits: Pick<SandboxLimits, 'memoryBytes' | 'processes'>): ControlGroups | undefined {
  const layout = findVersion1(limits) ?? findVersion2(limits);
  if (layout === undefined) return undefined;
  removeStale(layout.parents);
  try {
    const probe = createGroup(layout);
    for (const folder of probe) rmdirSync(folder);
  } catch {
    return undefined;
  }
  return { version: layout.version, create: () => openGroup(layout) };
}

function openGroup(layout: Layout): ControlGroup {
  const folders = createGroup(layout);
  const [first = ''] = folders;
  return {
    joinFiles: folders.map((folder) => join(folder, 'cgroup.procs')),
    countOomKills: () => Number(layout.oom.pattern.exec(tryRead(join(first, layout.oom.file)))?.[1] ?? 0),
    remove: async () => {
      for (const folder of folders) await removeGroup(folder);
    },
  };
}

/** The folders of a new group, its limits set. */
function createGroup({ parents, values, required }: Layout): string[] {
  counter += 1;
  const name = `capstan-${process.pid}-${counter}`;
  const folders = parents.map((parent) => join(parent, name));
  try {
    for (const folder of folders) {
      mkdirSync(folder);
      for (const [file, value] of Object.entries(values)) {
        const path = join(folder, file);
        if (!existsSync(path)) continue;
        try {
          writeFileSync(path, value);
        } catch (error) {
          if (required.includes(file)) throw error;
        }
      }
    }
    return folders;
  } catch (error) {
    for (const folder of folders) tryRemove(folder);
    throw error;
  }
}

function findVersion1({
  memoryBytes,
  processes,
}: Pick<SandboxLimits, 'memoryBytes' | 'processes'>): Layout | undefined {
  const parents = ['memory', 'pids'].map(findOwnVersion1);
  const [memory, pids] = parents;
  if (memory === undefined || pids === undefined) return undefined;
  const bytes = String(memoryBytes);
  return {
    version: 1,
    parents: [memory, pids],
    values: { 'memory.limit_in_bytes': bytes, 'memory.memsw.limit_in_bytes': bytes, 'pids.max': String(processes) },
    required: ['memory.limit_in_bytes', 'pids.max'],
    oom: { file: 'memory.oom_control', pattern: /^oom_kill (\d+)$/m },
  };
}

/** This process's group in the hierarchy of a controller. */
function findOwnVersion1(controller: string): string | undefined {
  const root = join(ROOT, controller);
  if (!existsSync(join(root, 'cgroup.procs'))) return undefined;
  const line = tryRead('/proc/self/cgroup')
    .split('\n')
    .find((text) => text.split(':')[1]?.split(',').includes(controller) === true);
  const own = line === undefined ? undefined : join(root, line.split(':').slice(2).join(':'));
  // a container may show its own group as the root
  return own !== undefined && existsSync(own) ? own : root;
}

/** Where this process's group is delegated to it, it moves to a group below, for only leaves may hold processes. */
function findVersion2({
  memoryBytes,
  processes,
}: Pick<SandboxLimits, 'memoryBytes' | 'processes'>): Layout | undefined {
  const own = /^0::(\/.*)$/m.exec(tryRead('/proc/self/cgroup'))?.[1];
  if (own === undefined || !existsSync(join(ROOT, 'cgroup.controllers'))) return undefined;
  const current = join(ROOT, own);
  const parent = basename(current) === SERVER_GROUP ? dirname(current) : current;
  try {
    if (parent === current) {
      // moving the processes of others is not this one's business
      if (tryRead(join(parent, 'cgroup.procs')).trim() !== String(process.pid)) return undefined;
      mkdirSync(join(parent, SERVER_GROUP), { recursive: true });
      writeFileSync(join(parent, SERVER_GROUP, 'cgroup.procs'), String(process.pid));
    }
    writeFileSync(join(parent, 'cgroup.subtree_control'), '+memory +pids');
  } catch {
    return undefined;
  }
  return {
    version: 2,
    parents: [parent],
    values: { 'memory.max': String(memoryBytes), 'memory.swap.max': '0', 'pids.max': String(processes) },
    required: ['memory.max', 'pids.max'],
    oom: { file: 'memory.events', pattern: /^oom_kill (\d+)$/m },
  };
}

/**
 * Of servers that were killed. A sandbox ends with its server, except one whose server was killed while it started: it
 * waits for its dead parent for ever, so it is ended here.
 */
function removeStale(parents: readonly string[]): void {
  for (const parent of parents) {
    for (const name of readdirSync(parent)) {
      const pid = Number(/^capstan-(\d+)-\d+$/.exec(name)?.[1]);
      if (!(pid > 0) || existsSync(`/proc/${pid}`)) continue;
      const folder = join(parent, name);
      if (tryRemove(folder)) continue;
      for (const left of tryRead(join(folder, 'cgroup.procs')).split('\n').map(Number)) if (left > 0) tryKill(left);
      void removeGroup(folder);
    }
  }
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended meanwhile
  }
}

/** The kernel keeps a group until its last process is reaped. */
async function removeGroup(folder: string): Promise<void> {
  for (let round = 0; round < REMOVE_ROUNDS; round += 1) {
    if (tryRemove(folder)) return;
    await sleep(REMOVE_PAUSE_MS);
  }
}

function tryRemove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

function tryRead(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
