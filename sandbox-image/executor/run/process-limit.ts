import { readdirSync } from 'node:fs';

const CHECK_MS = 500;
const ROUNDS = 200;

function listOthers(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && pid !== 1);
}

/** Processes of an own pid namespace beside the executor and the first one. */
export function countOthers(): number {
  return listOthers().length;
}

function signalAll(pids: number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // already ended
    }
  }
}

/**
 * Kills all processes but the executor when more than `maxProcesses` are running. The kernel does not enforce `ulimit
 * -u` for the host's root, which a sandbox's user may map to. Only for an own pid namespace: elsewhere it would kill
 * the processes of others. Returns a function that stops the check.
 */
export function enforceProcessLimit(maxProcesses: number): () => void {
  const timer = setInterval(() => {
    if (listOthers().length <= maxProcesses) return;
    for (let round = 0; round < ROUNDS; round++) {
      const others = listOthers();
      // a stopped process cannot fork while the others are found
      signalAll(others, 'SIGSTOP');
      signalAll(others, 'SIGKILL');
      if (others.length < 3) return;
    }
  }, CHECK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
