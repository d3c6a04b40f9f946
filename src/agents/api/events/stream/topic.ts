import { findDeltaSpan } from '../../../log/read.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { watchSession } from '../../../channels.ts';
import type { Grant } from '../grant.ts';
import type { LiveEvent } from '../../../channels.ts';
import type { Subscription } from '../../../../platform/bus/bus.ts';
import type { EventEnvelope } from '../../../contract/events.ts';
import { errorText, errors } from '../../../../platform/errors.ts';
import { findLogTail, listEvents } from '../../../store/events.ts';
import type { EventDeps } from '../../deps.ts';
import { writeCursor } from './cursor.ts';
import { hasReferences } from '../attachments/stored.ts';
import { buildFrame } from './frame.ts';
import { completeUpdate, isComplete, isUpdate } from './update.ts';
import type { Update } from './update.ts';

export type StreamPorts = Pick<EventDeps, 'db' | 'bus' | 'log' | 'objects'>;

/** One frame, the same text for all streams of a session. */
export type Item =
  /** without a frame: it names attachments, and is read from the log in the pace of each client */
  | { kind: 'event'; sequence: number; id: string; frame: string | undefined }
  | { kind: 'update'; id: string; frame: string }
  | { kind: 'delta'; id: string; frame: string; piece: Piece | undefined };

/** The offset of a delta in the text of its message, in characters. */
type Piece = { from: number; to: number };

export type Listener = {
  /** whose stream it is, and with what it ends */
  readonly grant: Grant;
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
/** How long a cursor names the last update: longer than any message is in transit. */
const UPDATE_NAMED_MS = 10_000;

export function openTopic(ports: StreamPorts, organizationId: string, sessionId: string): Topic {
  return new SessionTopic(ports, organizationId, sessionId);
}

class SessionTopic implements Topic {
  readonly organizationId: string;
  readonly sessionId: string;
  readonly listeners = new Set<Listener>();
  readonly ready: Promise<void>;
  readonly #ports: StreamPorts;
  #subscription: Subscription | undefined;
  #subscribing: Promise<void> | undefined;
  /** sequence of the last durable event given to the listeners */
  #head = 0;
  #recent: string[] = [];
  #backlog: Message[] = [];
  /** true while the log is read; before that the order of incoming frames is unknown */
  #reading = true;
  #started = false;
  #overflown = false;
  /** the log could not be read: messages are dropped until the next sweep */
  #behind = false;
  #hasNews = false;
  #closed = false;
  #lastUpdate: { id: string; time: number } | undefined;

  constructor(ports: StreamPorts, organizationId: string, sessionId: string) {
    this.#ports = ports;
    this.organizationId = organizationId;
    this.sessionId = sessionId;
    this.ready = this.#start();
  }

  takeNews(): boolean {
    const news = (this.#hasNews && !this.#behind) || !this.#started;
    this.#hasNews = false;
    return news;
  }

  reach(lastSequence: number): void {
    if (this.#closed) return;
    if (this.#subscription === undefined) void this.#subscribe();
    if (this.#reading || (lastSequence <= this.#head && !this.#behind)) return;
    this.#behind = false;
    this.#pauseFor(() => this.#readLog());
  }

  close(): void {
    this.#closed = true;
    this.#subscription?.close();
  }

  async #start(): Promise<void> {
    // Without the bus the sweep alone brings events.
    const timeout = new AbortController();
    const patience = sleep(SUBSCRIBE_MS, undefined, { signal: timeout.signal, ref: false }).catch(() => {});
    await Promise.race([this.#subscribe(), patience]);
    timeout.abort();
    const tail = await findLogTail(this.#ports.db, this.sessionId, RECENT_EVENTS);
    if (tail === undefined) throw errors.notFound('session');
    this.#head = tail.sequence;
    this.#recent = tail.ids;
    this.#started = true;
    this.#reading = false;
    this.#drain();
  }

  #subscribe(): Promise<void> {
    const { bus, log } = this.#ports;
    const { organizationId, sessionId } = this;
    this.#subscribing ??= watchSession(bus, organizationId, sessionId, {
      onEvent: (event) => this.#accept({ kind: 'event', event }),
      onDelta: (delta) => this.#accept({ kind: 'delta', delta }),
    })
      .then((watch) => {
        if (this.#closed) watch.close();
        else this.#subscription = watch;
      })
      .catch((error: unknown) => log.warn({ sessionId, error: errorText(error) }, 'session not watched on the bus'))
      .finally(() => (this.#subscribing = undefined));
    return this.#subscribing;
  }

  #accept(message: Message): void {
    if (this.#closed || this.#behind) return;
    if (this.#backlog.length >= MAX_BACKLOG) {
      // The log has the events; deltas may be lost.
      this.#overflown = true;
      this.#backlog = [];
    }
    this.#backlog.push(message);
    if (!this.#reading) this.#drain();
  }

  #drain(): void {
    for (let message = this.#backlog.shift(); message !== undefined; message = this.#backlog.shift()) {
      if (message.kind === 'delta') this.#emitDelta(message.delta);
      else if (!this.#handleEvent(message)) return;
    }
  }

  /** Returns false when the log has to be read first, which continues with the backlog afterwards. */
  #handleEvent(message: Message & { kind: 'event' }): boolean {
    const { event } = message;
    if (isUpdate(event)) {
      if (event.sequence > this.#head && message.isRead !== true) {
        this.#backlog.unshift({ ...message, isRead: true });
        return this.#pauseFor(() => this.#readLog());
      }
      if (!isComplete(event)) return this.#pauseFor(() => this.#emitCompleted(event));
      this.#emitUpdate(event);
    } else if (event.sequence === this.#head + 1 && 'payload' in event) this.#advance(event);
    else if (event.sequence > this.#head) return this.#pauseFor(() => this.#readLog());
    return true;
  }

  /** Buffers incoming frames until `work` is done. After a failure returns false, and the next sweep retries. */
  #pauseFor(work: () => Promise<void>): false {
    const { sessionId } = this;
    this.#reading = true;
    void work()
      .catch((error: unknown) => {
        this.#ports.log.debug({ sessionId, error: errorText(error) }, 'log not read for a stream');
        this.#behind = true;
        this.#backlog = [];
      })
      .then(() => {
        this.#reading = false;
        if (!this.#closed) this.#drain();
      });
    return false;
  }

  async #readLog(): Promise<void> {
    for (;;) {
      this.#overflown = false;
      const page = await listEvents(this.#ports.db, this.sessionId, this.#head, PAGE);
      if (this.#closed) return;
      for (const event of page) this.#advance(event);
      if (page.length < PAGE && !this.#overflown) return;
    }
  }

  async #emitCompleted(incomplete: Update): Promise<void> {
    const update = await completeUpdate(this.#ports.db, incomplete);
    if (update !== undefined && !this.#closed) this.#emitUpdate(update);
  }

  #advance(event: EventEnvelope): void {
    this.#head = event.sequence;
    this.#hasNews = true;
    this.#recent.push(event.id);
    if (this.#recent.length > RECENT_EVENTS) this.#recent.shift();
    const frame = buildFrame(event, this.#writeCursor());
    this.#emit({
      kind: 'event',
      sequence: this.#head,
      id: event.id,
      frame: hasReferences(frame) ? undefined : frame,
    });
  }

  #emitUpdate(update: EventEnvelope): void {
    this.#lastUpdate = { id: update.id, time: Date.now() };
    this.#emit({ kind: 'update', id: update.id, frame: buildFrame(update, this.#writeCursor()) });
  }

  #emitDelta(delta: EventEnvelope): void {
    if (this.#recent.includes(delta.id)) return;
    this.#emit({ kind: 'delta', id: delta.id, frame: buildFrame(delta, undefined), piece: findDeltaSpan(delta) });
  }

  #emit(item: Item): void {
    for (const listener of this.listeners) listener.take(item);
  }

  #writeCursor(): string {
    const time = Date.now();
    const last = this.#lastUpdate;
    const updateId = last !== undefined && time - last.time < UPDATE_NAMED_MS ? last.id : null;
    return writeCursor({ sequence: this.#head, time, updateId });
  }
}
