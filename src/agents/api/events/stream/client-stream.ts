import type { ServerResponse } from 'node:http';
import { replaySession } from '../../../channels.ts';
import type { LiveEvent } from '../../../channels.ts';
import { errorText } from '../../../../platform/errors.ts';
import { listEvents } from '../../../store/events.ts';
import { expandJson, hasReferences } from '../attachments/stored.ts';
import type { Grant } from '../grant.ts';
import { MAX_UNSENT_BYTES, StreamConnection } from './connection.ts';
import { writeCursor } from './cursor.ts';
import type { Cursor } from './cursor.ts';
import { buildFrame } from './frame.ts';
import type { Item, Listener, StreamPorts } from './topic.ts';
import { completeUpdate, isUpdate } from './update.ts';

export type Stream = Listener & {
  /**
   * Sends the log after the position and the frames that the client missed, then the buffered frames, then goes live.
   */
  start(position: { after: number; cursor: Cursor | undefined }): Promise<void>;
};

type Watch = { organizationId: string; sessionId: string; grant: Grant };
/** The part of cursors of replayed events after the sequence. */
type Origin = Omit<Cursor, 'sequence'>;

const PAGE = 100;
const MAX_HELD_BACK = 1000;
const REMEMBERED = 64;
/** Aborted messages leave their counts behind; at most this many are kept. */
const MAX_UNFINISHED = 8;
const BUS_REPLAY_MS = 2000;
/** How much earlier a replay starts, because a message may be in transit while its successor is sent. */
const UNDER_WAY_MS = 5000;

/** One client's connection. Listens before it reads, so that nothing falls between history and the live events. */
export function openStream(ports: StreamPorts, watch: Watch, response: ServerResponse): Stream {
  return new EventStream(ports, watch, response);
}

class EventStream implements Stream {
  readonly grant: Grant;
  readonly #ports: StreamPorts;
  readonly #organizationId: string;
  readonly #sessionId: string;
  readonly #connection: StreamConnection;
  /** sequence of the last durable event sent */
  #last = 0;
  /** null once the stream is live */
  #heldBack: Item[] | null = [];
  #heldBytes = 0;
  #overflown = false;
  /** ids of what the replay sent, whose deltas may still come */
  #replayed: Set<string> | null = null;
  /** how much of a text its deltas have sent, in characters; usually of one message, or none */
  readonly #sentLengths = new Map<string, number>();

  constructor(ports: StreamPorts, { organizationId, sessionId, grant }: Watch, response: ServerResponse) {
    this.grant = grant;
    this.#ports = ports;
    this.#organizationId = organizationId;
    this.#sessionId = sessionId;
    this.#connection = new StreamConnection(response);
  }

  async start({ after, cursor }: { after: number; cursor: Cursor | undefined }): Promise<void> {
    this.#last = after;
    await this.#replay(cursor ?? { time: Date.now(), updateId: null }, cursor);
  }

  take(item: Item): void {
    if (this.#heldBack === null) this.#pass(item);
    else if (!this.#connection.isOver) this.#holdBack(item, this.#heldBack);
  }

  end(): void {
    this.#connection.end();
  }

  tick(now: number): void {
    this.#connection.tick(now);
  }

  #pass(item: Item): void {
    if (item.kind === 'event') {
      if (item.sequence <= this.#last) return;
      if (item.frame === undefined) return this.#leaveLivePath();
      this.#last = item.sequence;
      this.#replayed = null;
      this.#sentLengths.delete(item.id);
    } else if (this.#replayed?.has(item.id) === true || !this.#isNextPiece(item)) return;
    if (item.frame !== undefined) this.#connection.write(item.frame);
  }

  /** Reads on from the log, and returns to the live path at its end. */
  #leaveLivePath(): void {
    this.#heldBack = [];
    this.#heldBytes = 0;
    void this.#replay({ time: Date.now(), updateId: null });
  }

  /**
   * The deltas of a message are sent from its beginning and without a hole, or no further: joined they begin its text.
   */
  #isNextPiece(item: Item): boolean {
    if (item.kind !== 'delta' || item.piece === undefined) return true;
    const lengths = this.#sentLengths;
    const { from, to } = item.piece;
    if (from !== (lengths.get(item.id) ?? 0)) return false;
    lengths.set(item.id, to);
    for (const id of lengths.keys()) if (lengths.size > MAX_UNFINISHED) lengths.delete(id);
    return true;
  }

  #holdBack(item: Item, heldBack: Item[]): void {
    let items = heldBack;
    if (items.length >= MAX_HELD_BACK || this.#heldBytes > MAX_UNSENT_BYTES) {
      // The log has the events; deltas may be lost, updates are few.
      this.#overflown = true;
      this.#heldBytes = 0;
      items = items.filter(({ kind }) => kind === 'update').slice(-MAX_HELD_BACK / 2);
      this.#heldBack = items;
    }
    this.#heldBytes += item.frame?.length ?? 0;
    items.push(item);
  }

  async #replay(origin: Origin, cursor?: Cursor): Promise<void> {
    try {
      await this.#replayLog(origin);
      if (cursor !== undefined) await this.#replayUpdates(cursor);
      while (this.#overflown && !this.#connection.isOver) await this.#replayLog(origin);
      this.#goLive();
    } catch (error) {
      this.#ports.log.debug({ sessionId: this.#sessionId, error: errorText(error) }, 'stream closed after an error');
      this.#connection.destroy();
    }
  }

  async #replayLog(origin: Origin): Promise<void> {
    const { db, objects } = this.#ports;
    const connection = this.#connection;
    const sent: string[] = [];
    for (let isFull = true; isFull && !connection.isOver;) {
      this.#overflown = false;
      const page = await listEvents(db, this.#sessionId, this.#last, PAGE);
      for (const event of page) {
        this.#last = event.sequence;
        sent.push(event.id);
        const frame = buildFrame(event, writeCursor({ ...origin, sequence: this.#last }));
        if (hasReferences(frame)) await connection.writePieces(expandJson(frame, this.#sessionId, objects));
        else await connection.writeInPace(frame);
      }
      isFull = page.length === PAGE || this.#overflown;
    }
    this.#replayed = new Set([...(this.#replayed ?? []), ...sent.slice(-REMEMBERED)]);
  }

  /** Updates since the cursor, which the log does not have. Without them when the bus is slow or gone. */
  async #replayUpdates(cursor: Cursor): Promise<void> {
    try {
      const updates = (await this.#fetchRecent(cursor)).filter(isUpdate);
      const seen = updates.findIndex(({ id }) => id === cursor.updateId);
      for (const found of updates.slice(seen + 1)) {
        const update = await completeUpdate(this.#ports.db, found);
        if (update === undefined || this.#replayed?.has(update.id) === true) continue;
        this.#replayed?.add(update.id);
        const position = { sequence: this.#last, time: cursor.time, updateId: update.id };
        await this.#connection.writeInPace(buildFrame(update, writeCursor(position)));
      }
    } catch (error) {
      const { log } = this.#ports;
      log.debug({ sessionId: this.#sessionId, error: errorText(error) }, 'updates not replayed from the bus');
    }
  }

  /** What the bus still has since the cursor; nothing when it does not answer within two seconds. */
  async #fetchRecent(cursor: Cursor): Promise<LiveEvent[]> {
    const since = new Date(cursor.time - UNDER_WAY_MS);
    const timeout = Promise.withResolvers<LiveEvent[]>();
    const timer = setTimeout(() => timeout.resolve([]), BUS_REPLAY_MS);
    try {
      const events = replaySession(this.#ports.bus, this.#organizationId, this.#sessionId, since);
      return await Promise.race([events, timeout.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  #goLive(): void {
    const items = this.#heldBack ?? [];
    this.#heldBack = null;
    for (const [index, item] of items.entries()) {
      this.#pass(item);
      // The stream may have left the live path again: the rest is buffered with new frames.
      const held = this.#heldBack as Item[] | null;
      if (held !== null) return void held.push(...items.slice(index + 1));
    }
  }
}
