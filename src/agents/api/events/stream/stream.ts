import type { ServerResponse } from 'node:http';
import { replaySession } from '../../../channels.ts';
import type { LiveEvent } from '../../../channels.ts';
import { errorText } from '../../../../platform/errors.ts';
import { listEvents } from '../../../store/events.ts';
import { expandJson, hasReferences } from '../attachments/stored.ts';
import { writeCursor } from './cursor.ts';
import type { Cursor } from './cursor.ts';
import { KEEPALIVE_FRAME, buildFrame } from './frame.ts';
import type { Item, Listener, StreamPorts } from './topic.ts';
import { completeUpdate, isUpdate } from './update.ts';

export type Stream = Listener & {
  /** Sends the log past the position and what the client missed, then all that was held back, then goes live. */
  start(position: { after: number; cursor: Cursor | undefined }): Promise<void>;
};

type Watch = { organizationId: string; sessionId: string; keyId: string };

const PAGE = 100;
const MAX_UNSENT_BYTES = 1024 * 1024;
const MAX_HELD_BACK = 1000;
const REMEMBERED = 64;
/** Messages that were begun and broken off leave their count behind; only so many are kept. */
const MAX_UNFINISHED = 8;
const KEEPALIVE_MS = 14_500;
const STALLED_MS = 60_000;
const GOODBYE_MS = 1000;
const BUS_REPLAY_MS = 2000;
/** A message may have been under way when its successor was sent: so much earlier the replay begins. */
const UNDER_WAY_MS = 5000;

/** One client's connection. Listens before it reads, so that nothing falls between history and the live events. */
export function openStream(
  ports: StreamPorts,
  { organizationId, sessionId, keyId }: Watch,
  response: ServerResponse,
): Stream {
  let last = 0;
  /** null once the stream is live */
  let heldBack: Item[] | null = [];
  let heldBytes = 0;
  let overflown = false;
  /** ids of what the replay sent, whose deltas may still come */
  let replayed: Set<string> | null = null;
  /** how much of a text its deltas have sent, in characters; usually of one message, or none */
  const pieces = new Map<string, number>();
  let lastWrite = performance.now();
  let stalledSince: number | null = null;
  /** between two pieces of a frame */
  let inFrame = false;

  const isOver = () => response.writableEnded || response.destroyed;

  function write(frame: string): void {
    if (isOver()) return;
    // The client does not keep up; it will come back and go on where it was.
    if (response.writableLength > MAX_UNSENT_BYTES) response.destroy();
    else response.write(frame);
    lastWrite = performance.now();
  }

  function pass(item: Item): void {
    if (item.kind === 'event') {
      if (item.sequence <= last) return;
      if (item.frame === undefined) return catchUp();
      last = item.sequence;
      replayed = null;
      pieces.delete(item.id);
    } else if (replayed?.has(item.id) === true || !isNextPiece(item)) return;
    if (item.frame !== undefined) write(item.frame);
  }

  /** Leaves the live path for the log, and returns to it. */
  function catchUp(): void {
    heldBack = [];
    heldBytes = 0;
    void replay({ time: Date.now(), updateId: null });
  }

  /** The deltas of a message are sent from its beginning and without a hole, or no further: joined they begin its text. */
  function isNextPiece(item: Item): boolean {
    if (item.kind !== 'delta' || item.piece === undefined) return true;
    const { from, to } = item.piece;
    if (from !== (pieces.get(item.id) ?? 0)) return false;
    pieces.set(item.id, to);
    for (const id of pieces.keys()) if (pieces.size > MAX_UNFINISHED) pieces.delete(id);
    return true;
  }

  function holdBack(item: Item, items: Item[]): void {
    if (items.length >= MAX_HELD_BACK || heldBytes > MAX_UNSENT_BYTES) {
      // The log has the events; deltas may be lost, updates are few.
      overflown = true;
      heldBytes = 0;
      heldBack = items = items.filter(({ kind }) => kind === 'update').slice(-MAX_HELD_BACK / 2);
    }
    heldBytes += item.frame?.length ?? 0;
    items.push(item);
  }

  /** Unlike live frames, history waits for the client, however slow. */
  async function writeInPace(frame: string): Promise<void> {
    lastWrite = performance.now();
    if (isOver() || response.write(frame)) return;
    stalledSince = lastWrite;
    await new Promise<void>((resolve) => {
      const done = () => {
        response.off('drain', done).off('close', done);
        resolve();
      };
      response.on('drain', done).on('close', done);
    });
    stalledSince = null;
  }

  async function writePieces(frame: AsyncIterable<string>): Promise<void> {
    inFrame = true;
    for await (const piece of frame) {
      if (isOver()) return;
      await writeInPace(piece);
    }
    inFrame = false;
  }

  async function replayLog(origin: Omit<Cursor, 'sequence'>): Promise<void> {
    const sent: string[] = [];
    for (let isFull = true; isFull && !isOver();) {
      overflown = false;
      const page = await listEvents(ports.db, sessionId, last, PAGE);
      for (const event of page) {
        last = event.sequence;
        sent.push(event.id);
        const frame = buildFrame(event, writeCursor({ ...origin, sequence: last }));
        if (hasReferences(frame)) await writePieces(expandJson(frame, sessionId, ports.objects));
        else await writeInPace(frame);
      }
      isFull = page.length === PAGE || overflown;
    }
    replayed = new Set([...(replayed ?? []), ...sent.slice(-REMEMBERED)]);
  }

  /** Updates since the cursor, which the log does not have. The bus may be slow or gone: then without. */
  async function replayUpdates(cursor: Cursor): Promise<void> {
    const since = new Date(cursor.time - UNDER_WAY_MS);
    const patience = Promise.withResolvers<LiveEvent[]>();
    const timer = setTimeout(() => patience.resolve([]), BUS_REPLAY_MS);
    try {
      const replayedEvents = replaySession(ports.bus, organizationId, sessionId, since);
      const updates = (await Promise.race([replayedEvents, patience.promise])).filter(isUpdate);
      const seen = updates.findIndex(({ id }) => id === cursor.updateId);
      for (const found of updates.slice(seen + 1)) {
        const update = await completeUpdate(ports.db, found);
        if (update === undefined || replayed?.has(update.id) === true) continue;
        replayed?.add(update.id);
        await writeInPace(buildFrame(update, writeCursor({ sequence: last, time: cursor.time, updateId: update.id })));
      }
    } catch (error) {
      ports.log.debug({ sessionId, error: errorText(error) }, 'updates not replayed from the bus');
    } finally {
      clearTimeout(timer);
    }
  }

  function goLive(): void {
    const items = heldBack ?? [];
    heldBack = null;
    for (const [index, item] of items.entries()) {
      pass(item);
      // It may have left the live path again: the rest waits with what comes meanwhile.
      const held = heldBack as Item[] | null;
      if (held !== null) return void held.push(...items.slice(index + 1));
    }
  }

  async function replay(origin: Omit<Cursor, 'sequence'>, cursor?: Cursor): Promise<void> {
    try {
      await replayLog(origin);
      if (cursor !== undefined) await replayUpdates(cursor);
      while (overflown && !isOver()) await replayLog(origin);
      goLive();
    } catch (error) {
      ports.log.debug({ sessionId, error: errorText(error) }, 'stream given up');
      response.destroy();
    }
  }

  return {
    keyId,
    take(item) {
      if (heldBack === null) pass(item);
      else if (!isOver()) holdBack(item, heldBack);
    },
    end() {
      if (!response.headersSent) {
        response.destroy();
        return;
      }
      response.end();
      // A client that reads nothing must not hold up the server's end.
      setTimeout(() => response.destroy(), GOODBYE_MS).unref();
    },
    tick(now) {
      if (stalledSince !== null) {
        if (now - stalledSince > STALLED_MS) response.destroy();
      } else if (!inFrame && now - lastWrite >= KEEPALIVE_MS) write(KEEPALIVE_FRAME);
    },
    async start({ after, cursor }) {
      last = after;
      await replay(cursor ?? { time: Date.now(), updateId: null }, cursor);
    },
  };
}
