import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

import { StartupError } from '../errors.ts';

type Owner = { pid: number; startTime: string | null };

type Process = { state: string | null; startTime: string | null };

/**
 * What the system tells of a process. Its start time, in clock ticks since boot, tells it from a later one with the
 * same number.
 */
function readProcess(pid: number): Process {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, the program's name in parentheses, may hold spaces; the state is the 3rd, the start time the 22nd.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0] ?? null, startTime: fields[19] ?? null };
  } catch {
    return { state: null, startTime: null };
  }
}

function isAlive(owner: Owner): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const { state, startTime } = readProcess(owner.pid);
  // A killed process that its parent has not asked about keeps its number, in a container without an init for good.
  if (state === 'Z' || state === 'X') return false;
  return owner.startTime === null || startTime === owner.startTime;
}

function readOwner(path: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Owner;
  } catch {
    return undefined;
  }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * A lock file at `path` that names this process. The lock of a dead process is taken over. Throws `StartupError`, which
 * speaks of `what`, when a living process has it.
 */
export function takeLock(path: string, what: string): { release(): void } {
  const own = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  const stale = `${own}.stale`;
  const owner: Owner = { pid: process.pid, startTime: readProcess(process.pid).startTime };
  // Written first and then linked, so that a partial lock is never read.
  writeFileSync(own, JSON.stringify(owner), { mode: 0o600 });
  try {
    while (!tryLink(own, path)) {
      const holder = readOwner(path);
      if (holder && isAlive(holder)) throw new StartupError(`${what} is in use by process ${holder.pid}.`);
      try {
        renameSync(path, stale);
      } catch {
        continue;
      }
      // Another process may have taken over the stale lock between check and rename; then it is restored.
      const moved = readOwner(stale);
      if (moved && isAlive(moved)) {
        tryLink(stale, path);
        throw new StartupError(`${what} is in use by process ${moved.pid}.`);
      }
    }
  } finally {
    rmSync(own, { force: true });
    rmSync(stale, { force: true });
  }
  return { release: () => rmSync(path, { force: true }) };
}
