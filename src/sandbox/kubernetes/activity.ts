import { errorText } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import type { SandboxTarget } from '../sandbox.ts';
import type { Connection, Connections } from './connections.ts';
import type { Resources } from './resources.ts';

/** A sandbox whose background processes still run is kept this long at most. */
const BUSY_MS = 4 * 60 * 60_000;

export type ActivityOptions = {
  resources: Pick<Resources, 'sessions' | 'touchSession'>;
  connections: Connections;
  log: Logger;
  /** between two reports of a session's activity */
  touchMs: number;
};

/**
 * Reports the activity of the sessions that this process uses, so that the operator keeps their pods: at most once per
 * `touchMs`, and at most that long after a call.
 */
export class ActivityReporter {
  readonly #options: ActivityOptions;
  /** the sessions that this process has acquired, by name */
  readonly #sessions = new Map<string, { target: SandboxTarget; reportedMs: number }>();
  readonly #timer: NodeJS.Timeout;
  #closed = false;

  constructor(options: ActivityOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#reportAll(), options.touchMs / 2);
    this.#timer.unref();
  }

  /** The caller has reported this session's activity at `reportedMs`; -Infinity: the next round has to. */
  track(name: string, target: SandboxTarget, reportedMs: number): void {
    this.#sessions.set(name, { target, reportedMs });
  }

  isFresh(name: string): boolean {
    return Date.now() - (this.#sessions.get(name)?.reportedMs ?? -Infinity) < this.#options.touchMs;
  }

  forget(name: string): void {
    this.#sessions.delete(name);
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
  }

  async #reportAll(): Promise<void> {
    const { resources, connections, log, touchMs } = this.#options;
    for (const [name, { target, reportedMs }] of this.#sessions) {
      const connection = connections.get(resources.sessions.get(name)?.status?.podUid);
      if (connection === undefined || Date.now() - reportedMs < touchMs) continue;
      if (!(await isInUse(connection, reportedMs)) || this.#closed) continue;
      this.track(name, target, Date.now());
      await resources.touchSession(name).catch((error: unknown) => {
        log.warn({ sessionId: target.sessionId, error: errorText(error) }, "could not report a session's activity");
      });
    }
  }
}

/** Since its last report. */
async function isInUse({ active, usedMs, client }: Connection, reportedMs: number): Promise<boolean> {
  if (active > 0 || usedMs > reportedMs) return true;
  if (Date.now() - usedMs > BUSY_MS) return false;
  const processes = await client.listProcesses().catch(() => []);
  return processes.some(({ status }) => status === 'running');
}
