import type { Db } from '../../platform/db/db.ts';
import { LeaseLostError } from '../loop/turn/types.ts';
import type { Journal } from '../loop/turn/types.ts';
import type { Change } from '../log/entry.ts';
import type { LogEvent } from '../log/event.ts';
import { toLogEvent } from '../log/read.ts';
import type { EventEnvelope } from '../contract/events.ts';
import { readLog } from '../store/events.ts';
import type { Claim } from '../store/leases.ts';
import type { Appender } from './appender.ts';
import type { WarmLogs } from './warm-logs.ts';

/** A worker's copy of one session's log while it holds the lease. */
export type SessionJournal = Journal & {
  /** the last write left something to be done at once */
  readonly awake: boolean;
  readonly lastSequence: number;
  /**
   * Keeps the log for the next run of the session on this worker. A write that releases the lease does so by itself.
   */
  keep(): void;
};

/** Reads and extends the log. Writes of one session are serialized, also those of concurrent tools. */
export async function openJournal(
  claim: Claim,
  deps: { db: Db; appender: Appender; warmLogs: WarmLogs; publish: (envelopes: EventEnvelope[]) => void },
): Promise<SessionJournal> {
  const { sessionId, epoch } = claim;
  const { events, last: end } = await openLog(claim, deps);
  let last = end;
  let awake = false;
  let tail: Promise<unknown> = Promise.resolve();

  const fetch = async (before: number) => {
    const foreign = (await readLog(deps.db, sessionId, last)).filter((event) => event.sequence < before);
    events.push(...foreign);
    last = foreign.at(-1)?.sequence ?? last;
  };

  const write = async (change: Change) => {
    const appended = await deps.appender.append({ ...change, sessionId, epoch });
    if (appended === undefined) throw new LeaseLostError('The session belongs to another worker.');
    awake = appended.awake;
    // A gap contains events that callers sent meanwhile; the loop must read them first.
    if (appended.firstSequence > last + 1) await fetch(appended.firstSequence);
    appended.events.forEach((envelope, index) => {
      const event = change.events[index];
      if (event !== undefined) events.push(toLogEvent(event, envelope));
      last = envelope.sequence;
    });
    if (change.inbound !== undefined) noteInbound(change.inbound);
    if (change.session?.release === true) keep();
    deps.publish(appended.events);
  };

  const keep = () => deps.warmLogs.keep(claim, events, last);

  const noteInbound = ({ sequences, turnId, status }: NonNullable<Change['inbound']>) => {
    const noted = new Set(sequences);
    for (const event of events) {
      if (noted.has(event.sequence)) Object.assign(event, { status, turnId: event.turnId ?? turnId });
    }
  };

  const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
    const result = tail.then(work);
    tail = result.catch(() => undefined);
    return result;
  };

  return {
    events,
    get awake() {
      return awake;
    },
    get lastSequence() {
      return last;
    },
    append: (change) => inOrder(() => write(change)),
    refresh: () => inOrder(() => fetch(Number.MAX_SAFE_INTEGER)),
    keep,
  };
}

/** What prompts need of the log, from an earlier run on this worker and the store. */
async function openLog(
  claim: Claim,
  { db, warmLogs }: { db: Db; warmLogs: WarmLogs },
): Promise<{ events: LogEvent[]; last: number }> {
  const { sessionId, extent, lastSequence } = claim;
  const { events, last } = warmLogs.take(claim) ?? { events: [], last: 0 };
  if (last < lastSequence || last === 0) events.push(...(await readLog(db, sessionId, last, extent)));
  return { events, last: Math.max(events.at(-1)?.sequence ?? 0, lastSequence) };
}
