// Tests: test/agents/worker/warm-logs.test.ts
import type { LogEvent } from '../log/event.ts';
import { isInExtent } from '../log/extent.ts';
import type { Claim } from '../store/leases.ts';

type WarmLog = { epoch: number; events: LogEvent[]; last: number; size: number };

/** Characters of all logs that a worker keeps, and of one log at most. */
const MAX_TOTAL = 16 * 1024 * 1024;
const MAX_LOG = 4 * 1024 * 1024;

/**
 * Logs of sessions that this worker ran last, least recently used first, so that the next turn of a session reads only
 * what came since. A log is valid when no other worker has claimed the session in between.
 */
export class WarmLogs {
  readonly #logs = new Map<string, WarmLog>();
  readonly #maxTotal: number;
  #total = 0;

  constructor(maxTotal = MAX_TOTAL) {
    this.#maxTotal = maxTotal;
  }

  /** Keeps a log at the end of a run. The last event has the sequence `last`. */
  keep(claim: Pick<Claim, 'sessionId' | 'epoch'>, events: readonly LogEvent[], last: number): void {
    const { sessionId, epoch } = claim;
    this.#remove(sessionId);
    if (events.some(isReplaceable)) return;
    const size = events.reduce((sum, event) => sum + measure(event), 0);
    if (size > Math.min(MAX_LOG, this.#maxTotal)) return;
    this.#logs.set(sessionId, { epoch, events: [...events], last, size });
    this.#total += size;
    for (const oldest of this.#logs.keys()) {
      if (this.#total <= this.#maxTotal) break;
      this.#remove(oldest);
    }
  }

  /** Takes out the log of a claimed session, up to the sequence `last`; undefined: it has to be read from the store. */
  take(claim: Pick<Claim, 'sessionId' | 'epoch' | 'extent'>): { events: LogEvent[]; last: number } | undefined {
    const log = this.#logs.get(claim.sessionId);
    if (log === undefined) return undefined;
    this.#remove(claim.sessionId);
    if (log.epoch !== claim.epoch - 1) return undefined;
    return { events: log.events.filter(({ sequence }) => isInExtent(sequence, claim.extent)), last: log.last };
  }

  #remove(sessionId: string): void {
    this.#total -= this.#logs.get(sessionId)?.size ?? 0;
    this.#logs.delete(sessionId);
  }
}

/** The final result of a custom tool replaces the payload of its start: such an event may change in the store. */
function isReplaceable({ payload }: LogEvent): boolean {
  return payload.type === 'user.custom_tool_result' && payload.status === 'running';
}

const sizes = new WeakMap<LogEvent, number>();

/** Characters of an event, counted once. */
function measure(event: LogEvent): number {
  const known = sizes.get(event);
  if (known !== undefined) return known;
  const size = JSON.stringify(event).length;
  sizes.set(event, size);
  return size;
}
