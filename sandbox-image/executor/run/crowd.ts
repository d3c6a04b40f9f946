import { readdirSync } from 'node:fs';

const CHECK_MS = 500;
const ROUNDS = 200;

function listOthers(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && pid !== 1);
}

function signalAll(pids: number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // gone already
    }
  }
}

/**
 * Ends everything but the executor when more than `most` processes live. The kernel does not hold `ulimit -u` against
 * the host's root, whom a sandbox's user may be in truth. Only for a pid namespace of its own: elsewhere it would end
 * the processes of others. Returns how to stop.
 */
export function guardCrowd(most: number): () => void {
  const timer = setInterval(() => {
    if (listOthers().length <= most) return;
    for (let round = 0; round < ROUNDS; round++) {
      const others = listOthers();
      // what is stopped forks no more while the rest is found
      signalAll(others, 'SIGSTOP');
      signalAll(others, 'SIGKILL');
      if (others.length < 3) return;
    }
  }, CHECK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
