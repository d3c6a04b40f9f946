import { setTimeout as sleep } from 'node:timers/promises';
import type { CrashModel } from './model.ts';
import { spawnServer } from './server.ts';
import type { ServerProcess } from './server.ts';
import type { Blow, Kill } from './workload.ts';

/** The processes of a trial. */
export type Kept = {
  /** where the API listens, while it does */
  url(): string | undefined;
  /** blows that fell so far */
  kills(): number;
  faults: string[];
  output(): string;
  stop(): Promise<void>;
};

export type Keep = (env: Record<string, string>, kills: readonly Kill[], model: CrashModel) => Kept;

type Role = 'all' | 'api' | 'worker';

/** Longer than the lease of 1 s that these trials run with. */
const FREEZE_MS = 1800;

async function strike(server: ServerProcess, blow: Blow): Promise<void> {
  if (blow === 'kill') server.signal('SIGKILL');
  if (blow === 'drain') server.signal('SIGTERM');
  if (blow !== 'freeze') return;
  server.signal('SIGSTOP');
  await sleep(FREEZE_MS);
  server.signal('SIGCONT');
}

/** Keeps one process of a role running; each start suffers the next of the kills. */
function keepProcess(role: Role, env: Record<string, string>, kills: readonly Kill[], model: CrashModel): Kept {
  const left = [...kills];
  const faults: string[] = [];
  const over = new AbortController();
  let current: ServerProcess | undefined;
  let url: string | undefined;
  let struck = 0;
  let requests = 0;
  let onRequest: (() => void) | undefined;
  model.onRequest(() => {
    requests += 1;
    onRequest?.();
  });

  const isOver = () => over.signal.aborted || faults.length > 0;

  /** Resolves when the blow has fallen, or the trial is over. */
  const endure = async (server: ServerProcess, kill: Exclude<Kill, { kind: 'statement' }>): Promise<void> => {
    const { signal } = over;
    if (kill.kind === 'model') {
      const goal = requests + kill.number;
      await new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
        onRequest = () => requests >= goal && resolve();
      });
      onRequest = undefined;
    }
    await sleep(kill.delayMs, undefined, { signal }).catch(() => undefined);
    if (isOver()) return;
    struck += 1;
    await strike(server, kill.blow);
    // A process that was frozen lives on, and suffers the next one.
    const next = kill.blow === 'freeze' ? left.shift() : undefined;
    if (next !== undefined && next.kind !== 'statement') await endure(server, next);
  };

  const live = async () => {
    while (!isOver()) {
      const kill = left.shift();
      const point = kill?.kind === 'statement' ? kill : undefined;
      const server = spawnServer({ role, env, point });
      current = server;
      const ready = await server.ready;
      if ('url' in ready) url = ready.url;
      if (kill !== undefined && kill.kind !== 'statement') void endure(server, kill);
      const { code, signal } = await server.ended;
      url = undefined;
      if (point !== undefined && signal === 'SIGKILL') struck += 1;
      const asExpected =
        signal === 'SIGKILL' || (code === 0 && kill !== undefined && 'blow' in kill && kill.blow === 'drain');
      if (!asExpected && !over.signal.aborted) faults.push(`${role} ended by itself: ${code}\n${server.output()}`);
      onRequest = undefined;
    }
  };
  const living = live();

  return {
    url: () => url,
    kills: () => struck,
    faults,
    output: () => current?.output() ?? '',
    async stop() {
      over.abort();
      current?.signal('SIGCONT');
      current?.signal('SIGTERM');
      await living;
    },
  };
}

/** Everything in one process. */
export const keepServer: Keep = (env, kills, model) => keepProcess('all', env, kills, model);

/** One API and two workers, the first of which suffers the kills. */
export const keepCluster: Keep = (env, kills, model) => {
  const api = keepProcess('api', env, [], model);
  const workers = [keepProcess('worker', env, kills, model), keepProcess('worker', env, [], model)];
  const all = [...workers, api];
  return {
    url: () => api.url(),
    kills: () => workers.reduce((sum, worker) => sum + worker.kills(), 0),
    get faults() {
      return all.flatMap((kept) => kept.faults);
    },
    output: () => all.map((kept) => kept.output()).join('\n'),
    async stop() {
      for (const kept of all) await kept.stop();
    },
  };
};
