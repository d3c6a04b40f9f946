import { readFileSync, readdirSync } from 'node:fs';

/**
 * The processes on this machine whose file system holds `path` of the host: those of the sandboxes of a volume. A mount
 * is known by the end of the path, since it starts where its file system does.
 */
export function listSandboxProcesses(path: string): number[] {
  const end = path.split('/').slice(-2).join('/');
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const mounts = readFileSync(`/proc/${name}/mountinfo`, 'utf8').split('\n');
      return mounts.some((line) => line.split(' ')[3]?.includes(end)) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

/** Ends the sandboxes of a volume as a failing machine would. */
export function killSandboxProcesses(path: string): void {
  for (const pid of listSandboxProcesses(path)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // gone with another of them
    }
  }
}
