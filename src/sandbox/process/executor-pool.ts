import { totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import type { ExecutorNotice } from '../protocol/executor.ts';
import type { ExecutorChild } from './executor-child.ts';
import { hasRunningProcess, isAlive } from './pooled-executor.ts';
import type { PooledExecutor } from './pooled-executor.ts';
import { SavedStates, readSaved } from './saved-states.ts';
import { SandboxCapacityError, SandboxError } from '../sandbox.ts';
import type { SandboxNotice } from '../sandbox.ts';

/** A sandbox whose background processes still run is kept this long at most. */
const BUSY_IDLE_MS = 4 * 60 * 60_000;
const SWEEP_MS = 30_000;
const SLOT_POLL_MS = 50;
/** A session that was just given its executor is about to call it. */
const MIN_IDLE_MS = 500;
/**
 * Under pressure, with most of the places taken or little memory left, executors stop after this part of the idle time.
 */
const PRESSURE_SHARE = 5;
const PRESSURE_LIVE = 0.75;
const PRESSURE_MEMORY = 0.1;

const TOO_MANY_LIVE =
  'as many sandboxes as this machine may run (sandbox.maxLive) are busy; try again when another one has ended';

export type PoolOptions = {
  start(volume: string): Promise<ExecutorChild>;
  onNotice(notice: SandboxNotice): void;
  onStop(volume: string): void;
  idleMs: number;
  suspendMs: number;
  standbyIdleMs: number;
  maxStandbys: number;
  /** executors that may run at the same time, standbys included */
  maxLive: number;
  /** how long a caller waits for one of them to become idle */
  liveWaitMs: number;
  log: Logger;
};

/**
 * The executors of one machine: one per active session, and at most `maxStandbys` without one, of which the least
 * recently used is evicted. Both stop when idle. When `maxLive` run, the one that is idle for longest makes room.
 */
export class ExecutorPool {
  readonly #options: PoolOptions;
  readonly #sessions = new Map<string, PooledExecutor>();
  readonly #standbys = new Map<string, PooledExecutor>();
  /** no longer offered, but still using memory */
  readonly #stopping = new Set<PooledExecutor>();
  readonly #states: SavedStates;
  readonly #timer: NodeJS.Timeout;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#states = new SavedStates(options.idleMs);
    const sweepMs = Math.min(SWEEP_MS, options.idleMs, options.suspendMs, options.standbyIdleMs);
    this.#timer = setInterval(() => void this.#stopIdle(), sweepMs);
    this.#timer.unref();
  }

  /**
   * The session's executor: its own, otherwise the volume's standby, otherwise a new one. Throws `SandboxCapacityError` when as
   * many as may run were busy for `liveWaitMs`.
   */
  async acquireForSession(
    volume: string,
    session: { key: string; id: string },
    signal: AbortSignal,
  ): Promise<PooledExecutor> {
    const deadline = Date.now() + this.#options.liveWaitMs;
    for (;;) {
      const found = this.#findForSession(volume, session);
      if (found !== undefined) return found;
      if (this.#hasRoom()) return this.#launch(volume, session);
      if (await this.#evictIdle()) continue;
      if (signal.aborted) throw new SandboxError('cancelled while the sandbox started');
      if (Date.now() >= deadline) throw new SandboxCapacityError(TOO_MANY_LIVE);
      await sleep(SLOT_POLL_MS);
    }
  }

  #findForSession(volume: string, session: { key: string; id: string }): PooledExecutor | undefined {
    const existing = this.#sessions.get(session.key);
    if (existing !== undefined && isAlive(existing)) return existing;
    const standby = this.#standbys.get(volume);
    if (standby === undefined || !isAlive(standby)) return undefined;
    this.#standbys.delete(volume);
    standby.session = session;
    this.#sessions.set(session.key, standby);
    return standby;
  }

  /** An executor that can serve the volume's files, started or starting: its standby, otherwise a session's. */
  findForFiles(volume: string): PooledExecutor | undefined {
    const standby = this.#standbys.get(volume);
    if (standby !== undefined && isAlive(standby)) return standby;
    return [...this.#sessions.values()].find((executor) => executor.volume === volume && isAlive(executor));
  }

  findSession(key: string): PooledExecutor | undefined {
    return this.#sessions.get(key);
  }

  /** Undefined when all standby slots were in use for `waitMs`. */
  async startStandby(volume: string, waitMs: number): Promise<PooledExecutor | undefined> {
    const deadline = Date.now() + waitMs;
    for (;;) {
      const standby = this.#standbys.get(volume);
      if (standby !== undefined && isAlive(standby)) return standby;
      if (!this.#hasRoom()) await this.#evictIdle();
      else if (this.#freeSlot()) return this.#launch(volume, undefined);
      if (Date.now() >= deadline) return undefined;
      await sleep(SLOT_POLL_MS);
    }
  }

  isStarting(volume: string): boolean {
    const standby = this.#standbys.get(volume);
    return standby !== undefined && standby.started === undefined;
  }

  /** Gives a session's executor the state that its last one had when it was suspended. */
  resume(executor: PooledExecutor, child: ExecutorChild): Promise<void> {
    executor.resumed ??= this.#states.restore(executor.session?.key ?? '', child).catch((error: unknown) => {
      // the next `acquire` tries again
      executor.resumed = undefined;
      throw error;
    });
    return executor.resumed;
  }

  forgetState(matches: (saved: { key: string; volume: string }) => boolean): void {
    this.#states.forget(matches);
  }

  forget(executor: PooledExecutor): void {
    const { session, volume } = executor;
    if (session !== undefined && this.#sessions.get(session.key) === executor) this.#sessions.delete(session.key);
    if (this.#standbys.get(volume) === executor) this.#standbys.delete(volume);
  }

  async stop(executor: PooledExecutor): Promise<void> {
    this.forget(executor);
    this.#stopping.add(executor);
    const child = await executor.child.catch(() => undefined);
    await child?.stop();
    this.#stopping.delete(executor);
    this.#options.onStop(executor.volume);
  }

  async stopAll(matches: (executor: PooledExecutor) => boolean = () => true): Promise<void> {
    await Promise.all(
      this.list()
        .filter(matches)
        .map((executor) => this.stop(executor)),
    );
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Executors that run or start. */
  list(): PooledExecutor[] {
    return [...this.#sessions.values(), ...this.#standbys.values()];
  }

  #launch(volume: string, session: PooledExecutor['session']): PooledExecutor {
    const executor: PooledExecutor = {
      volume,
      session,
      child: this.#options.start(volume),
      started: undefined,
      files: undefined,
      startedMs: Date.now(),
      usedMs: Date.now(),
      active: 0,
      resumed: undefined,
    };
    if (session === undefined) this.#standbys.set(volume, executor);
    else this.#sessions.set(session.key, executor);
    executor.child.then(
      (child) => this.#onStarted(executor, child),
      () => this.forget(executor),
    );
    return executor;
  }

  #onStarted(executor: PooledExecutor, child: ExecutorChild): void {
    executor.started = child;
    executor.usedMs = Date.now();
    void child.ended.then(() => this.forget(executor));
    child.client
      .followNotices((notice) => void this.#onNotice(executor, child, notice))
      .catch((error: unknown) => {
        if (child.isAlive())
          this.#options.log.warn({ error: errorText(error) }, 'no longer reading the notices of a sandbox');
      });
  }

  async #onNotice(executor: PooledExecutor, child: ExecutorChild, notice: ExecutorNotice): Promise<void> {
    const { session } = executor;
    const { processId, text } = notice;
    const isExpected = await child.client.expectsNotices(processId);
    if (session !== undefined) this.#options.onNotice({ sessionId: session.id, processId, text, isExpected });
  }

  #hasRoom(): boolean {
    return this.#sessions.size + this.#standbys.size + this.#stopping.size < this.#options.maxLive;
  }

  /**
   * Stops the executor that is idle for longest and runs no background process, and keeps the state of its shells when
   * that is all it holds. False when there is none.
   */
  async #evictIdle(): Promise<boolean> {
    const isIdle = ({ active, started, usedMs }: PooledExecutor): boolean =>
      active === 0 && started !== undefined && Date.now() - usedMs >= MIN_IDLE_MS;
    const candidates = this.list().filter(isIdle);
    for (const executor of candidates.sort((left, right) => left.usedMs - right.usedMs)) {
      if (executor.session !== undefined && (await hasRunningProcess(executor))) continue;
      const { usedMs } = executor;
      const saved = await readSaved(executor);
      // somebody may have used or stopped it meanwhile
      if (!isIdle(executor) || executor.usedMs !== usedMs || !this.list().includes(executor)) continue;
      if (saved !== undefined) this.#states.keep(saved);
      this.#options.log.debug({ sessionId: executor.session?.id }, 'stopping an idle sandbox to make room');
      await this.stop(executor);
      return true;
    }
    return false;
  }

  /** Makes sure that one more standby may start. False when all of them are in use. */
  #freeSlot(): boolean {
    if (this.#standbys.size < this.#options.maxStandbys) return true;
    const idle = [...this.#standbys.values()].filter(({ active, started }) => active === 0 && started !== undefined);
    const [oldest] = idle.sort((left, right) => left.usedMs - right.usedMs);
    if (oldest === undefined) return false;
    void this.stop(oldest);
    return true;
  }

  async #stopIdle(): Promise<void> {
    this.#states.removeExpired();
    for (const executor of this.list()) {
      if (await this.#suspend(executor)) continue;
      if (executor.started === undefined || !this.#isIdle(executor)) continue;
      const isBusy = executor.session !== undefined && (await hasRunningProcess(executor));
      // A call may have arrived while the processes were listed.
      if (!this.#isIdle(executor) || (isBusy && Date.now() - executor.usedMs < BUSY_IDLE_MS)) continue;
      this.#options.log.debug({ sessionId: executor.session?.id }, 'stopping an idle sandbox');
      await this.stop(executor);
    }
  }

  /** Stops one that holds nothing but the state of its shells, and keeps that. False when it goes on. */
  async #suspend(executor: PooledExecutor): Promise<boolean> {
    const { session, usedMs } = executor;
    const isIdle = (): boolean => executor.usedMs === usedMs && this.#isIdle(executor, this.#options.suspendMs);
    if (session === undefined || !isIdle()) return false;
    const saved = await readSaved(executor);
    // A call may have arrived while the state was read.
    if (saved === undefined || !isIdle() || this.findSession(session.key) !== executor) return false;
    if (!this.#states.keep(saved)) return false;
    this.#options.log.debug({ sessionId: session.id }, 'suspending an idle sandbox');
    await this.stop(executor);
    return true;
  }

  #isIdle({ session, active, usedMs }: PooledExecutor, ownMs = this.#options.idleMs): boolean {
    const limitMs = session === undefined ? this.#options.standbyIdleMs : ownMs;
    return active === 0 && Date.now() - usedMs >= (this.#isUnderPressure() ? limitMs / PRESSURE_SHARE : limitMs);
  }

  #isUnderPressure(): boolean {
    if (this.#sessions.size + this.#standbys.size > this.#options.maxLive * PRESSURE_LIVE) return true;
    return process.availableMemory() < totalmem() * PRESSURE_MEMORY;
  }
}
