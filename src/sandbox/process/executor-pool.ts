import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../platform/log.ts';
import type { ExecutorChild } from './executor-child.ts';
import { SandboxError } from '../sandbox.ts';
import type { SandboxNotice, VolumeFiles } from '../sandbox.ts';

/** A sandbox whose background processes still run is kept longer, but not for ever. */
const BUSY_IDLE_MS = 4 * 60 * 60_000;
const SWEEP_MS = 30_000;
const SLOT_POLL_MS = 50;

/** A running executor. Without a session it is a standby: it serves files until a session adopts it. */
export type Entry = {
  /** the volume's folder */
  volume: string;
  session: { key: string; id: string } | undefined;
  child: Promise<ExecutorChild>;
  /** the child, once it has come up */
  started: ExecutorChild | undefined;
  /** the volume's files by this executor, once somebody asked for them */
  files: VolumeFiles | undefined;
  usedMs: number;
  /** calls under way */
  active: number;
};

export type PoolOptions = {
  start(volume: string): Promise<ExecutorChild>;
  onNotice(notice: SandboxNotice): void;
  onStop(volume: string): void;
  idleMs: number;
  standbyIdleMs: number;
  maxStandbys: number;
  log: Logger;
};

/**
 * The executors of one machine: one for each session at work, and at most `maxStandbys` without one, of which the
 * longest unused gives way. Both end when idle.
 */
export function openExecutorPool(options: PoolOptions) {
  const sessions = new Map<string, Entry>();
  const standbys = new Map<string, Entry>();

  const forget = (entry: Entry): void => {
    if (entry.session !== undefined && sessions.get(entry.session.key) === entry) sessions.delete(entry.session.key);
    if (standbys.get(entry.volume) === entry) standbys.delete(entry.volume);
  };

  const stop = async (entry: Entry): Promise<void> => {
    forget(entry);
    const child = await entry.child.catch(() => undefined);
    await child?.stop();
    options.onStop(entry.volume);
  };

  const launch = (volume: string, session: Entry['session']): Entry => {
    const child = options.start(volume);
    const started = undefined;
    const entry: Entry = { volume, session, child, started, files: undefined, usedMs: Date.now(), active: 0 };
    if (session === undefined) standbys.set(volume, entry);
    else sessions.set(session.key, entry);
    child.then(
      (started) => {
        entry.started = started;
        entry.usedMs = Date.now();
        void started.ended.then(() => forget(entry));
        started.client
          .followNotices(({ processId, text }) => {
            if (entry.session !== undefined) options.onNotice({ sessionId: entry.session.id, processId, text });
          })
          .catch(() => undefined);
      },
      () => forget(entry),
    );
    return entry;
  };

  const isAlive = (entry: Entry): boolean => entry.started?.isAlive() !== false;

  const isBusy = async (entry: Entry): Promise<boolean> => {
    const child = await entry.child.catch(() => undefined);
    const processes = await child?.client.listProcesses().catch(() => []);
    return processes?.some((process) => process.status === 'running') === true;
  };

  const sweep = async (): Promise<void> => {
    for (const entry of [...sessions.values(), ...standbys.values()]) {
      const limit = () => (entry.session === undefined ? options.standbyIdleMs : options.idleMs);
      const idle = () => Date.now() - entry.usedMs;
      if (entry.started === undefined || idle() < limit() || entry.active > 0) continue;
      const busy = entry.session !== undefined && (await isBusy(entry));
      // a call may have come in the meantime
      if (entry.active > 0 || idle() < limit() || (busy && idle() < BUSY_IDLE_MS)) continue;
      options.log.debug({ sessionId: entry.session?.id }, 'idle sandbox stopped');
      await stop(entry);
    }
  };
  const timer = setInterval(() => void sweep(), Math.min(SWEEP_MS, options.idleMs, options.standbyIdleMs));
  timer.unref();

  /** Makes room for one more standby. False when all of them are at work. */
  const makeRoom = (): boolean => {
    if (standbys.size < options.maxStandbys) return true;
    const idle = [...standbys.values()].filter((entry) => entry.active === 0 && entry.started !== undefined);
    const [oldest] = idle.sort((left, right) => left.usedMs - right.usedMs);
    if (oldest === undefined) return false;
    void stop(oldest);
    return true;
  };

  return {
    /** The session's executor: its own, else the volume's standby, else a new one. */
    takeForSession(volume: string, session: { key: string; id: string }): Entry {
      const own = sessions.get(session.key);
      if (own !== undefined && isAlive(own)) return own;
      const standby = standbys.get(volume);
      if (standby === undefined || !isAlive(standby)) return launch(volume, session);
      standbys.delete(volume);
      standby.session = session;
      sessions.set(session.key, standby);
      return standby;
    },
    /** An executor that can serve the volume's files, running or about to: a standby, or a session's. */
    findForFiles(volume: string): Entry | undefined {
      const standby = standbys.get(volume);
      if (standby !== undefined && isAlive(standby)) return standby;
      return [...sessions.values()].find((entry) => entry.volume === volume && isAlive(entry));
    },
    /** Undefined when there is no room, and for `waitMs` there was none. */
    async startStandby(volume: string, waitMs: number): Promise<Entry | undefined> {
      const deadline = Date.now() + waitMs;
      for (;;) {
        const standby = standbys.get(volume);
        if (standby !== undefined && isAlive(standby)) return standby;
        if (makeRoom()) return launch(volume, undefined);
        if (Date.now() >= deadline) return undefined;
        await sleep(SLOT_POLL_MS);
      }
    },
    isStarting(volume: string): boolean {
      return standbys.has(volume) && standbys.get(volume)?.started === undefined;
    },
    findSession: (key: string) => sessions.get(key),
    forget,
    stop,
    async stopAll(chosen: (entry: Entry) => boolean = () => true): Promise<void> {
      const entries = [...sessions.values(), ...standbys.values()].filter(chosen);
      await Promise.all(entries.map(stop));
    },
    close: () => clearInterval(timer),
  };
}

export type ExecutorPool = ReturnType<typeof openExecutorPool>;

/** Waits `ms` for a child to come up; the start goes on for whoever comes next. */
export async function waitStarted(entry: Entry, ms: number): Promise<ExecutorChild> {
  if (entry.started !== undefined) return entry.started;
  const abort = new AbortController();
  try {
    const late = sleep(ms, undefined, { signal: abort.signal, ref: false }).catch(() => undefined);
    const child = await Promise.race([entry.child, late]);
    if (child === undefined) throw new SandboxError('the sandbox is still warming up');
    return child;
  } finally {
    abort.abort();
  }
}
