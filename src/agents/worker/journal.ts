import type { Db } from '../../platform/db/db.ts';
import { LeaseLostError } from '../loop/turn/types.ts';
import type { Journal } from '../loop/turn/types.ts';
import type { Change } from '../log/entry.ts';
import { toLogEvent } from '../log/read.ts';
import type { EventEnvelope } from '../contract/events.ts';
import { readLog } from '../store/events.ts';
import type { Claim } from '../store/leases.ts';
import type { Appender } from './appender.ts';

/** What a worker knows of one session's log while it holds the lease. */
export type SessionJournal = Journal & {
  /** the last write left something to be done at once */
  readonly awake: boolean;
  readonly lastSequence: number;
};

/** Reads the log and extends it. Writes of one session happen one after the other, whoever of its tools asks. */
export async function openJournal(
  claim: Claim,
  deps: { db: Db; appender: Appender; publish: (envelopes: EventEnvelope[]) => void },
): Promise<SessionJournal> {
  const { sessionId, epoch } = claim;
  const events = await readLog(deps.db, sessionId, 0);
  let last = Math.max(events.at(-1)?.sequence ?? 0, claim.lastSequence);
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
    // A gap is what callers sent meanwhile: the loop must see it before it goes on.
    if (appended.firstSequence > last + 1) await fetch(appended.firstSequence);
    appended.events.forEach((envelope, index) => {
      const event = change.events[index];
      if (event !== undefined) events.push(toLogEvent(event, envelope));
      last = envelope.sequence;
    });
    if (change.inbound !== undefined) noteInbound(change.inbound);
    deps.publish(appended.events);
  };

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
  };
}
