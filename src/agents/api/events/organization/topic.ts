import { randomBytes } from 'node:crypto';
import type { Grant } from '../grant.ts';
import type { Bus, Subscription } from '../../../../platform/bus/bus.ts';
import { onNotice } from '../../../../platform/bus/notices.ts';
import type { Notice } from '../../../../platform/bus/notices.ts';
import type { Db } from '../../../../platform/db/db.ts';
import { errorText } from '../../../../platform/errors.ts';
import type { Logger } from '../../../../platform/log.ts';
import { watchOrganization } from '../../../channels.ts';
import { findLastSequences } from '../../../store/events.ts';
import { findSessionSummaries, listEventPlaces } from '../../../store/organization-events.ts';
import type { EventPlace, SessionSummary } from '../../../store/organization-events.ts';

export type OrganizationPorts = { db: Db; bus: Bus; log: Logger };

/** One frame, as it is sent, and what listeners choose it by. */
export type OrganizationItem = {
  type: string;
  agentId: string | null;
  subjectId: string | null;
  frame: string;
};

export type OrganizationListener = {
  /** whose stream it is, and with what it ends */
  readonly grant: Grant;
  take(item: OrganizationItem): void;
  end(): void;
  tick(now: number): void;
};

/** Frames of one moment are read together, at most this often. */
const JOIN_MS = 50;
const MAX_SESSIONS_READ = 200;
const MAX_EVENTS_READ = 200;
/** Sessions whose last sequence is known, and frames that a client may still resume from. */
const MAX_KNOWN = 5000;
const MAX_KEPT = 2000;

/**
 * The events of all sessions of one organization, in order within each session and without a gap. The bus says only which
 * sessions have news; the news is read from the log. Frames are numbered, and the latest of them are kept for a resume.
 */
export class OrganizationTopic {
  readonly organizationId: string;
  readonly listeners = new Set<OrganizationListener>();
  readonly ready: Promise<void>;
  readonly #ports: OrganizationPorts;
  /** tells frames of this topic from those of another process */
  readonly #name = randomBytes(6).toString('hex');
  #subscriptions: Subscription[] = [];
  #closed = false;
  #number = 0;
  readonly #kept: OrganizationItem[] = [];
  /** by session, the sequence of the last event sent; the oldest are forgotten */
  readonly #last = new Map<string, number>();
  readonly #running = new Set<string>();
  /** by session, the sequence after which there may be news */
  #due = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #isReading = false;

  constructor(ports: OrganizationPorts, organizationId: string) {
    this.#ports = ports;
    this.organizationId = organizationId;
    this.ready = this.#subscribe();
  }

  /** Where the stream stands now, for `id` of the next opening. */
  get position(): string {
    return `${this.#name}.${this.#number}`;
  }

  /** The frames behind a position; undefined when it is none of this topic, or too long ago. */
  listAfter(position: string): OrganizationItem[] | undefined {
    const match = /^([0-9a-f]{12})\.(\d{1,15})$/.exec(position);
    if (match === null || match[1] !== this.#name) return undefined;
    const missed = this.#number - Number(match[2]);
    if (missed < 0 || missed > this.#kept.length) return undefined;
    return missed === 0 ? [] : this.#kept.slice(-missed);
  }

  /** Looks for what the bus lost of sessions that run. */
  async sweep(): Promise<void> {
    const ids = [...this.#running].slice(0, MAX_SESSIONS_READ);
    if (ids.length > 0) {
      const ends = await findLastSequences(this.#ports.db, ids);
      for (const id of ids) {
        const end = ends.get(id);
        if (end === undefined) this.#running.delete(id);
        else if (end > (this.#last.get(id) ?? end)) this.#note(id, end);
      }
    }
    if (this.#due.size > 0) this.#plan();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const subscription of this.#subscriptions) subscription.close();
  }

  async #subscribe(): Promise<void> {
    const { bus } = this.#ports;
    this.#subscriptions = await Promise.all([
      watchOrganization(bus, this.organizationId, ({ sessionId, sequence }) => this.#note(sessionId, sequence)),
      onNotice(bus, this.organizationId, (notice) => this.#emitNotice(notice)),
    ]);
    if (this.#closed) this.close();
  }

  #note(sessionId: string, sequence: number): void {
    const last = this.#last.get(sessionId) ?? this.#due.get(sessionId);
    if (last !== undefined && sequence <= last) return;
    if (!this.#due.has(sessionId)) this.#due.set(sessionId, last ?? sequence - 1);
    this.#plan();
  }

  #plan(): void {
    if (this.#closed || this.#isReading) return;
    this.#timer ??= setTimeout(() => void this.#read(), JOIN_MS).unref();
  }

  async #read(): Promise<void> {
    this.#timer = undefined;
    this.#isReading = true;
    const taken = new Map([...this.#due].slice(0, MAX_SESSIONS_READ));
    for (const id of taken.keys()) this.#due.delete(id);
    try {
      const { db } = this.#ports;
      const places = await listEventPlaces(db, taken, MAX_EVENTS_READ);
      const ids = [...new Set(places.map(({ sessionId }) => sessionId))];
      const summaries = await findSessionSummaries(db, this.organizationId, ids);
      for (const place of places) this.#emitEvent(place, summaries.get(place.sessionId));
    } catch (error) {
      // The next message of the bus or the next sweep tries again.
      for (const [id, after] of taken) if (!this.#due.has(id)) this.#due.set(id, after);
      this.#ports.log.debug({ error: errorText(error) }, 'events of an organization not read');
      this.#isReading = false;
      return;
    }
    this.#isReading = false;
    if (this.#due.size > 0) this.#plan();
  }

  #emitEvent({ sessionId, sequence, ...place }: EventPlace, summary: SessionSummary | undefined): void {
    if (summary === undefined || sequence <= (this.#last.get(sessionId) ?? 0)) return;
    this.#last.delete(sessionId);
    this.#last.set(sessionId, sequence);
    const [oldest] = this.#last.keys();
    if (this.#last.size > MAX_KNOWN && oldest !== undefined) this.#last.delete(oldest);
    if (summary.status === 'running') this.#running.add(sessionId);
    else this.#running.delete(sessionId);
    const { agentId, subjectId, ...session } = summary;
    this.#emit(place.type, { ...place, sessionId, agentId, subjectId, sequence, session });
  }

  #emitNotice(notice: Notice): void {
    this.#emit(notice.type, { ...notice, sequence: null, session: null });
  }

  #emit(type: string, data: { agentId: string | null; subjectId: string | null; [field: string]: unknown }): void {
    this.#number += 1;
    const frame = `event: ${type}\nid: ${this.position}\ndata: ${JSON.stringify(data)}\n\n`;
    const item = { type, agentId: data.agentId, subjectId: data.subjectId, frame };
    this.#kept.push(item);
    if (this.#kept.length > MAX_KEPT) this.#kept.shift();
    for (const listener of this.listeners) listener.take(item);
  }
}
