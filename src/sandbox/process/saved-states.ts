// Tests: test/sandbox/process/suspended.test.ts
import type { ExecutorChild } from './executor-child.ts';
import type { PooledExecutor } from './pooled-executor.ts';

/** With the longest state of 32,768 characters each, 64 MiB at most. */
const MAX_STATES = 1000;
const CALL_MS = 5000;

/** `key` is the session's, `state` what its executor gave: foreign text that goes back to a sandbox of the same session. */
type SavedState = { key: string; volume: string; state: string };

/** The state of sessions whose sandbox was stopped to save memory or to make room, each for `keptMs`. */
export class SavedStates {
  readonly #keptMs: number;
  readonly #states = new Map<string, SavedState & { savedMs: number }>();

  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  /** False when as many as there may be are kept. */
  keep(saved: SavedState): boolean {
    if (this.#states.size >= MAX_STATES && !this.#states.has(saved.key)) return false;
    this.#states.set(saved.key, { ...saved, savedMs: Date.now() });
    return true;
  }

  /** Rejects with `SandboxError` when the executor does not take it; the state is then kept for the next one. */
  async restore(key: string, child: ExecutorChild): Promise<void> {
    const saved = this.#states.get(key);
    if (saved === undefined) return;
    await child.client.call('restoreState', { state: saved.state }, { timeoutMs: CALL_MS });
    if (this.#states.get(key) === saved) this.#states.delete(key);
  }

  forget(matches: (saved: SavedState) => boolean): void {
    for (const saved of this.#states.values()) if (matches(saved)) this.#states.delete(saved.key);
  }

  removeExpired(): void {
    const newest = Date.now() - this.#keptMs;
    for (const { key, savedMs } of this.#states.values()) if (savedMs <= newest) this.#states.delete(key);
  }
}

/**
 * Undefined when the executor has more than the state of its shells, does not say, or serves no session yet: a state that
 * its session has from before is then still kept.
 */
export async function readSaved({
  session,
  started,
  volume,
  resumed,
}: PooledExecutor): Promise<SavedState | undefined> {
  if (session === undefined || started?.isAlive() !== true || resumed === undefined) return undefined;
  try {
    await resumed;
    const state = await started.client.call('saveState', {}, { timeoutMs: CALL_MS });
    return state === null ? undefined : { key: session.key, volume, state };
  } catch {
    return undefined;
  }
}
