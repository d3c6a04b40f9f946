import { setTimeout as sleep } from 'node:timers/promises';
import type { SmallDisk } from '../small-disk.ts';
import type { CrashModel } from './model.ts';
import { spawnServer } from './server.ts';
import type { ServerProcess } from './server.ts';
import type { Blow, Kill } from './workload.ts';

/** The processes of a trial. */
export type Kept = {
  /** the API's address, while it listens */
  url(): string | undefined;
  /** number of faults so far */
  kills(): number;
  faults: string[];
  output(): string;
  /** Sets the faults of the next workload. Pending faults of the last one are dropped. */
  suffer(kills: readonly Kill[]): Promise<void>;
  stop(): Promise<void>;
};

export type Keep = (env: Record<string, string>, kills: readonly Kill[], model: CrashModel) => Kept;

type Role = 'all' | 'api' | 'worker';
/** A fault from outside the process. */
type Blowing = Exclude<Kill, { kind: 'statement' }>;

/** Longer than the lease of 1 s that these trials run with. */
const FREEZE_MS = 1800;
/** One that a backend never lets start is at fault. */
const MOST_FAILED_STARTS = 20;

/** How long a disk stays full: long enough to affect both running work and the restart. */
const FULL_MS = 1500;

async function strike(server: ServerProcess, blow: Blow, disk: SmallDisk | undefined): Promise<void> {
  if (blow === 'fill') {
    disk?.leave(0);
    await sleep(FULL_MS);
    disk?.leave(Number.MAX_SAFE_INTEGER);
  }
  if (blow === 'kill') server.signal('SIGKILL');
  if (blow === 'drain') server.signal('SIGTERM');
  if (blow !== 'freeze') return;
  server.signal('SIGSTOP');
  await sleep(FREEZE_MS);
  server.signal('SIGCONT');
}

/** The exit of a server on a full disk, or its refusal to start. */
const HAS_NO_SPACE = /backend of \w+ cannot be opened|embedded database is lost/;

type Arms = { env: Record<string, string>; kills: readonly Kill[]; model: CrashModel; disk?: SmallDisk };

/** Keeps one process of a role running. It gets the first of the kills, and each restart the next one. */
function keepProcess(role: Role, { env, kills, model, disk }: Arms): Kept {
  let left = [...kills];
  const faults: string[] = [];
  const over = new AbortController();
  /** ends when the blows are those of another workload */
  let round = new AbortController();
  let current: ServerProcess | undefined;
  let isServing = false;
  /** whether the process is to kill itself */
  let isArmed = false;
  let isDraining = false;
  let falling = Promise.resolve();
  let url: string | undefined;
  let struck = 0;
  let failedStarts = 0;
  let requests = 0;
  let onRequest: (() => void) | undefined;
  model.onRequest(() => {
    requests += 1;
    onRequest?.();
  });

  const hadNoSpace = (code: number | null, server: ServerProcess) =>
    disk !== undefined && code === 1 && HAS_NO_SPACE.test(server.output());
  const isUp = () => isServing;
  const isOver = () => over.signal.aborted || faults.length > 0;

  /** Resolves when the fault has happened, or when its trial or round is over. */
  const endure = async (server: ServerProcess, kill: Blowing, own: AbortSignal): Promise<void> => {
    const signal = AbortSignal.any([over.signal, own]);
    if (kill.kind === 'model') {
      const goal = requests + kill.number;
      const reached = Promise.withResolvers<void>();
      const look = () => requests >= goal && reached.resolve();
      signal.addEventListener('abort', () => reached.resolve(), { once: true });
      onRequest = look;
      await reached.promise;
      if (onRequest === look) onRequest = undefined;
    }
    await sleep(kill.delayMs, undefined, { signal }).catch(() => undefined);
    if (isOver() || signal.aborted) return;
    struck += 1;
    isDraining = kill.blow === 'drain';
    const mayLive = kill.blow === 'freeze' || kill.blow === 'fill';
    isServing &&= mayLive;
    falling = strike(server, kill.blow, disk);
    await falling;
    // A frozen process survives and gets the next fault; so may one whose disk was full.
    if (server !== current) return;
    const next = mayLive && !signal.aborted ? left.shift() : undefined;
    if (next !== undefined && next.kind !== 'statement') await endure(server, next, own);
  };

  const live = async () => {
    while (!isOver()) {
      const kill = left.shift();
      const own = round.signal;
      const point = kill?.kind === 'statement' ? kill : undefined;
      isArmed = point !== undefined;
      isDraining = false;
      const server = spawnServer({ role, env, point });
      current = server;
      const ready = await server.ready;
      if ('url' in ready) url = ready.url;
      isServing = 'url' in ready;
      if (kill !== undefined && kill.kind !== 'statement') void endure(server, kill, own);
      const { code, signal } = await server.ended;
      isServing = false;
      url = undefined;
      if (isArmed && signal === 'SIGKILL') struck += 1;
      // A backend that a busy machine lets wait ends a start; whoever looks after servers begins another one.
      if (code === 1 && !('url' in ready) && /backend of \w+ cannot be opened/.test(server.output())) {
        failedStarts += 1;
        if (failedStarts < MOST_FAILED_STARTS) {
          if (kill !== undefined) left.unshift(kill);
          continue;
        }
      }
      const asExpected = signal === 'SIGKILL' || (code === 0 && isDraining) || hadNoSpace(code, server);
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
    async suffer(next) {
      round.abort();
      round = new AbortController();
      left = [...next];
      await falling;
      // A process dying of the last fault takes the first of these at its restart.
      while (!isUp() && !isOver()) await sleep(20);
      const [first] = left;
      if (current === undefined || first !== next[0] || isOver()) return;
      const server = current;
      const point = first?.kind === 'statement' ? first : null;
      if (isArmed || point !== null) {
        isArmed = point !== null;
        await server.arm(point);
      }
      if (server !== current || !isServing) return;
      left.shift();
      if (first !== undefined && first.kind !== 'statement') void endure(server, first, round.signal);
    },
    async stop() {
      over.abort();
      current?.signal('SIGCONT');
      current?.signal('SIGTERM');
      await living;
    },
  };
}

/** Everything in one process. */
export const keepServer: Keep = (env, kills, model) => keepProcess('all', { env, kills, model });

/** Everything in one process, with its database on a disk that fills up. */
export function keepOnDisk(find: () => SmallDisk | undefined): Keep {
  return (env, kills, model) => {
    const disk = find();
    if (disk === undefined) throw new Error('There is no disk of its own.');
    return keepProcess('all', { env, kills, model, disk });
  };
}

/** One API and two workers, the first of which suffers the kills. */
export const keepCluster: Keep = (env, kills, model) => {
  const api = keepProcess('api', { env, kills: [], model });
  const workers = [kills, []].map((own) => keepProcess('worker', { env, kills: own, model }));
  const all = [...workers, api];
  return {
    url: () => api.url(),
    kills: () => workers.reduce((sum, worker) => sum + worker.kills(), 0),
    get faults() {
      return all.flatMap((kept) => kept.faults);
    },
    output: () => all.map((kept) => kept.output()).join('\n'),
    async suffer(next) {
      await Promise.all(workers.map((kept, place) => kept.suffer(place === 0 ? next : [])));
    },
    async stop() {
      for (const kept of all) await kept.stop();
    },
  };
};
