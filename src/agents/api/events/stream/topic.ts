import { findDeltaSpan } from '../../../log/read.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { watchSession } from '../../../channels.ts';
import type { LiveEvent } from '../../../channels.ts';
import type { Subscription } from '../../../../platform/bus/bus.ts';
import type { EventEnvelope } from '../../../contract/events.ts';
import { errorText, errors } from '../../../../platform/errors.ts';
import { findLogTail, listEvents } from '../../../store/events.ts';
import type { ApiDeps } from '../../deps.ts';
import { writeCursor } from './cursor.ts';
import { hasReferences } from '../attachments/stored.ts';
import { buildFrame } from './frame.ts';
import { completeUpdate, isComplete, isUpdate } from './update.ts';

export type StreamPorts = Pick<ApiDeps, 'db' | 'bus' | 'log' | 'objects'>;

/** One frame, the same text for all streams of a session. */
export type Item =
  /** without a frame: it names attachments, and is read from the log in the pace of each client */
  | { kind: 'event'; sequence: number; id: string; frame: string | undefined }
  | { kind: 'update'; id: string; frame: string }
  | { kind: 'delta'; id: string; frame: string; piece: Piece | undefined };

/** Where a delta stands in the text of its message, in characters. */
type Piece = { from: number; to: number };

export type Listener = {
  /** whose stream it is: it ends when the key is revoked */
  readonly keyId: string;
  take(item: Item): void;
  /** the session is gone, or the server closes */
  end(): void;
  tick(now: number): void;
};

/**
 * The live events of one session, put in order for all its streams: each durable event once, by sequence, without a
 * gap. What the bus loses, doubles or sends out of order is read from the log.
 */
export type Topic = {
  readonly organizationId: string;
  readonly sessionId: string;
  readonly listeners: Set<Listener>;
  /** rejects when the log cannot be read or the session does not exist */
  readonly ready: Promise<void>;
  /** whether a durable event came since the last call, so that looking into the log is not needed */
  takeNews(): boolean;
  /** tells the log's last sequence */
  reach(lastSequence: number): void;
  close(): void;
};

type Message = { kind: 'event'; event: LiveEvent; isRead?: true } | { kind: 'delta'; delta: EventEnvelope };

const PAGE = 100;
const MAX_BACKLOG = 1000;
/** Deltas that come later than this many events after their message are let through. */
const RECENT_EVENTS = 64;
const SUBSCRIBE_MS = 2000;
/** How long a cursor names the last update: longer than any message is under way. */
const UPDATE_NAMED_MS = 10_000;

export function openTopic(ports: StreamPorts, organizationId: string, sessionId: string): Topic {
  const { db, bus, log } = ports;
  const listeners = new Set<Listener>();
  let subscription: Subscription | undefined;
  let subscribing: Promise<void> | undefined;
  let head = 0;
  let recent: string[] = [];
  let backlog: Message[] = [];
  /** true while the log is read; before that the order of what comes in is not known */
  let reading = true;
  let started = false;
  let overflown = false;
  let behind = false;
  let hasNews = false;
  let closed = false;
  let lastUpdate: { id: string; time: number } | undefined;

  function emit(item: Item): void {
    for (const listener of listeners) listener.take(item);
  }

  function cursor(): string {
    const time = Date.now();
    const updateId = lastUpdate && time - lastUpdate.time < UPDATE_NAMED_MS ? lastUpdate.id : null;
    return writeCursor({ sequence: head, time, updateId });
  }

  function advance(event: EventEnvelope): void {
    head = event.sequence;
    hasNews = true;
    recent.push(event.id);
    if (recent.length > RECENT_EVENTS) recent.shift();
    const frame = buildFrame(event, cursor());
    emit({ kind: 'event', sequence: head, id: event.id, frame: hasReferences(frame) ? undefined : frame });
  }

  function emitUpdate(update: EventEnvelope): void {
    lastUpdate = { id: update.id, time: Date.now() };
    emit({ kind: 'update', id: update.id, frame: buildFrame(update, cursor()) });
  }

  function emitDelta(delta: EventEnvelope): void {
    if (recent.includes(delta.id)) return;
    emit({ kind: 'delta', id: delta.id, frame: buildFrame(delta, undefined), piece: findDeltaSpan(delta) });
  }

  function accept(message: Message): void {
    if (closed || behind) return;
    if (backlog.length >= MAX_BACKLOG) {
      // The log has the events; deltas may be lost.
      overflown = true;
      backlog = [];
    }
    backlog.push(message);
    if (!reading) drain();
  }

  function drain(): void {
    for (let message = backlog.shift(); message !== undefined; message = backlog.shift()) {
      if (message.kind === 'delta') {
        emitDelta(message.delta);
        continue;
      }
      const { event } = message;
      if (isUpdate(event)) {
        if (event.sequence > head && message.isRead !== true) {
          backlog.unshift({ ...message, isRead: true });
          return pauseFor(readOn);
        }
        if (!isComplete(event)) {
          return pauseFor(async () => {
            const update = await completeUpdate(db, event);
            if (update !== undefined && !closed) emitUpdate(update);
          });
        }
        emitUpdate(event);
      } else if (event.sequence === head + 1 && 'payload' in event) advance(event);
      else if (event.sequence > head) return pauseFor(readOn);
    }
  }

  /** Holds back what comes in until `work` is done. After a failure the next sweep tries again. */
  function pauseFor(work: () => Promise<void>): void {
    reading = true;
    void work()
      .catch((error: unknown) => {
        log.debug({ sessionId, error: errorText(error) }, 'log not read for a stream');
        behind = true;
        backlog = [];
      })
      .then(() => {
        reading = false;
        if (!closed) drain();
      });
  }

  async function readOn(): Promise<void> {
    for (;;) {
      overflown = false;
      const page = await listEvents(db, sessionId, head, PAGE);
      if (closed) return;
      page.forEach(advance);
      if (page.length < PAGE && !overflown) return;
    }
  }

  function subscribe(): Promise<void> {
    subscribing ??= watchSession(bus, organizationId, sessionId, {
      onEvent: (event) => accept({ kind: 'event', event }),
      onDelta: (delta) => accept({ kind: 'delta', delta }),
    })
      .then((watch) => {
        if (closed) watch.close();
        else subscription = watch;
      })
      .catch((error: unknown) => log.warn({ sessionId, error: errorText(error) }, 'session not watched on the bus'))
      .finally(() => (subscribing = undefined));
    return subscribing;
  }

  async function start(): Promise<void> {
    // Without the bus the sweep alone brings events.
    const timeout = new AbortController();
    const patience = sleep(SUBSCRIBE_MS, undefined, { signal: timeout.signal, ref: false }).catch(() => {});
    await Promise.race([subscribe(), patience]);
    timeout.abort();
    const tail = await findLogTail(db, sessionId, RECENT_EVENTS);
    if (tail === undefined) throw errors.notFound('session');
    head = tail.sequence;
    recent = tail.ids;
    started = true;
    reading = false;
    drain();
  }

  return {
    organizationId,
    sessionId,
    listeners,
    ready: start(),
    takeNews() {
      const news = (hasNews && !behind) || !started;
      hasNews = false;
      return news;
    },
    reach(lastSequence) {
      if (closed) return;
      if (subscription === undefined) void subscribe();
      if (reading || (lastSequence <= head && !behind)) return;
      behind = false;
      pauseFor(readOn);
    },
    close() {
      closed = true;
      subscription?.close();
    },
  };
}
