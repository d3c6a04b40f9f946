// Tests: test/console
import { get } from '../data/http.ts';
import { isLiveOnly, isOf, isToolResult, isToolUse, textOf } from '../data/events.ts';
import type { EventEnvelope } from '../data/events.ts';

/** Stream events that the transcript does not show. */
const NOT_SHOWN = new Set(['session.waiting', 'mcp.server_unavailable']);
const PAGE = 100;
const MAX_PAGES = 50;
const MAX_AHEAD = 5;
const HIDDEN_MS = 250;
/** Maximum characters of a running command's output; the oldest are dropped. */
const MAX_OUTPUT = 32_768;

/** Text that an agent is writing: on the stream, not yet in the log. */
export type LiveItem = { id: string; type: string; text: string; event: EventEnvelope };
type EventPage = { data: EventEnvelope[] };

/**
 * The events of one session, outside React. Sequences have no gaps, so the row of an event is its sequence. Only pages
 * in view are read, at most 50 are kept, and listeners are notified once per frame.
 */
export class TranscriptStore {
  readonly sessionId: string;
  lastSequence = 0;
  version = 0;
  error: unknown;
  readonly live = new Map<string, LiveItem>();
  readonly #pages = new Map<number, (EventEnvelope | undefined)[]>();
  readonly #loading = new Set<number>();
  readonly #results = new Map<string, number>();
  /** what running commands have printed, by the id of the call */
  readonly #outputs = new Map<string, string>();
  readonly #answers = new Map<string, number>();
  readonly #uses = new Map<string, number>();
  readonly #turnStarts = new Map<string, number>();
  readonly #listeners = new Set<() => void>();
  readonly #onEvent: (event: EventEnvelope) => void;
  /** whether the latest events are there, or cannot be read */
  hasBegun = false;
  #isDue = false;
  #beginning: Promise<void> | undefined;

  constructor(sessionId: string, lastSequence: number, onEvent: (event: EventEnvelope) => void) {
    this.sessionId = sessionId;
    this.lastSequence = lastSequence;
    this.#onEvent = onEvent;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  getVersion = (): number => this.version;

  #changed(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    const flush = () => {
      this.#isDue = false;
      this.version += 1;
      for (const listener of this.#listeners) listener();
    };
    // A hidden tab has no frames.
    if (document.hidden) setTimeout(flush, HIDDEN_MS);
    else requestAnimationFrame(flush);
  }

  find(sequence: number): EventEnvelope | undefined {
    return this.#pages.get(Math.floor((sequence - 1) / PAGE))?.[(sequence - 1) % PAGE];
  }

  findResult(useId: string): EventEnvelope | undefined {
    const sequence = this.#results.get(useId);
    return sequence === undefined ? undefined : this.find(sequence);
  }

  /** What a running command has printed lately; undefined once its result is there. */
  findOutput(useId: string): string | undefined {
    return this.#outputs.get(useId);
  }

  findAnswer(askId: string): EventEnvelope | undefined {
    const sequence = this.#answers.get(askId);
    return sequence === undefined ? undefined : this.find(sequence);
  }

  findUse(useId: string): EventEnvelope | undefined {
    const sequence = this.#uses.get(useId);
    return sequence === undefined ? undefined : this.find(sequence);
  }

  isTurnStart(event: EventEnvelope): boolean {
    return event.turnId !== null && this.#turnStarts.get(event.turnId) === event.sequence;
  }

  *loaded(): Generator<EventEnvelope> {
    for (const page of this.#pages.values()) for (const event of page) if (event !== undefined) yield event;
  }

  #index(event: EventEnvelope): void {
    const { sequence } = event;
    if (isToolUse(event)) this.#uses.set(event.payload.id, sequence);
    if (isToolResult(event)) {
      const { payload } = event;
      const { tool_use_id: useId } = payload;
      if (!('status' in payload && payload.status === 'running')) {
        this.#results.set(useId, sequence);
        this.#outputs.delete(useId);
      }
    }
    if (isOf(event, 'user.approval_response')) this.#answers.set(event.payload.approval_id, sequence);
    if (isOf(event, 'user.clarify_result')) this.#answers.set(event.payload.request_id, sequence);
    if (event.turnId === null) return;
    const start = this.#turnStarts.get(event.turnId);
    if (start === undefined || sequence < start) this.#turnStarts.set(event.turnId, sequence);
  }

  #put(event: EventEnvelope): void {
    const number = Math.floor((event.sequence - 1) / PAGE);
    const page = this.#pages.get(number) ?? [];
    page[(event.sequence - 1) % PAGE] = event;
    this.#pages.delete(number);
    this.#pages.set(number, page);
    this.#index(event);
    if (event.sequence > this.lastSequence) this.lastSequence = event.sequence;
  }

  #hasAll(first: number, last: number): boolean {
    for (let sequence = first; sequence <= last; sequence += 1) if (this.find(sequence) === undefined) return false;
    return true;
  }

  /** Reads the pages of these sequences unless they are loaded. */
  async ensure(first: number, last: number): Promise<void> {
    await this.#beginning;
    const end = Math.min(last, this.lastSequence);
    const start = Math.max(1, first);
    const pages: number[] = [];
    for (let number = Math.floor((start - 1) / PAGE); number * PAGE < end; number += 1) {
      const isThere = this.#hasAll(Math.max(start, number * PAGE + 1), Math.min(end, (number + 1) * PAGE));
      if (!isThere) pages.push(number);
    }
    await Promise.all(pages.map((number) => this.#load(number)));
  }

  /** Reads on until the calls of these sequences have their results. Parallel calls may have them far behind. */
  async ensureResults(first: number, last: number): Promise<void> {
    for (let page = 1; page <= MAX_AHEAD; page += 1) {
      const isOpen = (sequence: number) => {
        const event = this.find(sequence);
        return event !== undefined && isToolUse(event) && !this.#results.has(event.payload.id);
      };
      let sequence = first;
      while (sequence <= last && !isOpen(sequence)) sequence += 1;
      const next = last + page * PAGE;
      if (sequence > last || next - PAGE > this.lastSequence) return;
      await this.ensure(next, next);
    }
  }

  /** Accepts the latest events, which are read elsewhere. Nothing else is read before they arrive. */
  begin(latest: Promise<readonly EventEnvelope[]>): void {
    const put = (events: readonly EventEnvelope[]) => {
      for (const event of events) if (this.find(event.sequence) === undefined) this.#put(event);
    };
    // After a failure, the visible rows request the page again, and get the error.
    this.#beginning = latest
      .then(put, () => undefined)
      .then(() => {
        this.hasBegun = true;
        this.#changed();
      });
  }

  async #load(number: number): Promise<void> {
    if (this.#loading.has(number)) return;
    this.#loading.add(number);
    try {
      const path = `v1/sessions/${encodeURIComponent(this.sessionId)}/events`;
      const { data } = await get<EventPage>(path, { after: number * PAGE, limit: PAGE, attachments: 'omit' });
      // Storing the same event again would only render its row again.
      for (const event of data) if (this.find(event.sequence)?.status !== event.status) this.#put(event);
      this.#evict(number);
      this.error = undefined;
    } catch (error) {
      this.error = error;
    } finally {
      this.#loading.delete(number);
      this.#changed();
    }
  }

  /** Evicts the least recently used pages; never the last page, which the stream updates. */
  #evict(current: number): void {
    const newest = Math.floor((this.lastSequence - 1) / PAGE);
    for (const number of this.#pages.keys()) {
      if (this.#pages.size <= MAX_PAGES) return;
      if (number !== current && number !== newest) this.#pages.delete(number);
    }
  }

  /** Reads new events, for a tab without a stream. Resolves with the state of the connection. */
  async catchUp(): Promise<'connected' | 'reconnecting'> {
    await this.#beginning;
    const path = `v1/sessions/${encodeURIComponent(this.sessionId)}/events`;
    try {
      const { data } = await get<EventPage>(path, { after: this.lastSequence, limit: PAGE, attachments: 'omit' });
      for (const event of data) this.accept(event);
      return 'connected';
    } catch {
      return 'reconnecting';
    }
  }

  /** Handles an event of the stream. */
  accept(event: EventEnvelope): void {
    if (isLiveOnly(event)) this.#acceptLive(event);
    else {
      this.live.delete(event.id);
      // Items that are unfinished at the end of the turn stay so: a restarted stream uses another id.
      if (event.type === 'session.status_idle') {
        this.live.clear();
        this.#outputs.clear();
      }
      if (event.sequence > this.lastSequence + 1) void this.ensure(this.lastSequence + 1, event.sequence - 1);
      this.#put(event);
    }
    this.#onEvent(event);
    this.#changed();
  }

  #acceptLive(event: EventEnvelope): void {
    if (isOf(event, 'agent.message_discarded')) {
      this.live.delete(event.payload.id);
      return;
    }
    if (isOf(event, 'agent.tool_output')) {
      const { tool_use_id: useId } = event.payload;
      const before = this.#outputs.get(useId) ?? '';
      const gap = before === '' || before.endsWith('\n') ? '' : '\n';
      this.#outputs.set(useId, `${before}${gap}${textOf(event.payload)}`.slice(-MAX_OUTPUT));
      return;
    }
    if (NOT_SHOWN.has(event.type)) return;
    const { payload } = event;
    const id = 'id' in payload ? payload.id : event.id;
    const before = this.live.get(id)?.text ?? '';
    const added = textOf(payload);
    const isDelta = 'delta' in payload && payload.delta;
    const text = isDelta ? before.slice(0, payload.offset ?? before.length) + added : added;
    this.live.set(id, { id, type: event.type, text, event });
  }

  /** The sequence of the next matching event after `sequence` in this direction; undefined if there is none. */
  async seek(sequence: number, step: 1 | -1, fits: (event: EventEnvelope) => boolean): Promise<number | undefined> {
    for (let next = sequence + step; next >= 1 && next <= this.lastSequence; next += step) {
      if (this.find(next) === undefined) await this.ensure(next, next);
      const event = this.find(next);
      if (event === undefined) return undefined;
      if (fits(event)) return next;
    }
    return undefined;
  }
}
