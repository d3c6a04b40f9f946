import { readFileSync, readdirSync } from 'node:fs';

/** Whether a process with exactly this command line runs on this machine, in a sandbox or not. */
export function isRunning(command: string): boolean {
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() === command;
    } catch {
      return false;
    }
  });
}
