import { ApiError, isLiveOnly } from '../../../clients/typescript/index.ts';
import type { Client, EventEnvelope, FollowItem, InboundEvent, Session } from '../../../clients/typescript/index.ts';
import { CliError } from '../cli-error.ts';

/** One session, followed from its beginning. */
export type Conversation = {
  /** Passes events on until the session wants something from us: a prompt, or answers to its pending actions. */
  settle(): Promise<{ pendingActions: EventEnvelope[] }>;
  /** Answers the ids of the events. */
  send(events: InboundEvent[]): Promise<string[]>;
  /** Ends the turn at work, if there is one. */
  interrupt(): Promise<void>;
  /** Whether a turn of this conversation has ended in an error since it was opened. */
  readonly failed: boolean;
  close(): Promise<void>;
};

const ACTION_TYPES = new Set(['agent.approval_request', 'agent.clarify_request', 'agent.custom_tool_use']);

/** Keeps reading while the user types, so that the connection stays alive. */
function readAhead<T>(source: AsyncIterable<T>): { next(): Promise<T>; done: Promise<void> } {
  const waiting: T[] = [];
  let ended: { error: unknown } | undefined;
  let wake = () => {};
  const read = async () => {
    for await (const item of source) {
      waiting.push(item);
      wake();
    }
  };
  const done = read().then(
    () => (ended = { error: new CliError('The stream has ended.') }),
    (error: unknown) => (ended = { error }),
  );
  return {
    async next() {
      for (;;) {
        const [item] = waiting.splice(0, 1);
        if (item !== undefined) return item;
        if (ended !== undefined) throw ended.error;
        await Promise.race([done, new Promise<void>((resolve) => (wake = resolve))]);
      }
    },
    done: done.then(() => {}),
  };
}

export function openConversation(
  client: Client,
  sessionId: string,
  show: (event: EventEnvelope) => void,
): Conversation {
  const leave = new AbortController();
  const items = readAhead(client.follow(sessionId, { after: 0, signal: leave.signal }));
  const asked = new Map<string, EventEnvelope>();
  let failed = false;
  let lastSequence = 0;

  function take(item: FollowItem): boolean {
    if (item.kind === 'caught_up') return true;
    const { event } = item;
    if (!isLiveOnly(event)) lastSequence = Math.max(lastSequence, event.sequence);
    if (ACTION_TYPES.has(event.type) && !isLiveOnly(event)) asked.set(event.id, event);
    show(event);
    if (event.payload.type !== 'session.status_idle' || item.isPast) return false;
    if (event.payload.stop_reason.type === 'error') failed = true;
    return true;
  }

  /** The pending actions of the session; undefined while it works. */
  function findPendingActions(session: Session): EventEnvelope[] | undefined {
    if (session.status === 'archived') throw new CliError('The session is archived.');
    if (session.status === 'running') return undefined;
    // An active goal is judged after each turn: the session says so when nothing follows.
    if (session.status === 'idle' && (session.queuedCount > 0 || session.goal?.status === 'active')) return undefined;
    const pending = session.pendingActions.flatMap(({ eventId }) => asked.get(eventId) ?? []);
    return pending.toSorted((a, b) => a.sequence - b.sequence);
  }

  return {
    async settle() {
      for (;;) {
        if (!take(await items.next())) continue;
        const session = await client.getSession(sessionId);
        if (findPendingActions(session) === undefined) continue;
        // What the session has written since, such as how its goal ended, is shown first.
        while (lastSequence < session.lastSequence) take(await items.next());
        return { pendingActions: findPendingActions(session) ?? [] };
      }
    },
    async send(events) {
      const sent = await client.sendEvents(sessionId, { events });
      return sent.data.map((event) => event.id);
    },
    async interrupt() {
      try {
        await client.sendEvents(sessionId, { events: [{ type: 'user.interrupt' }] });
      } catch (error) {
        // It has just ended by itself.
        if (!(error instanceof ApiError && error.status === 409)) throw error;
      }
    },
    get failed() {
      return failed;
    },
    async close() {
      leave.abort();
      await items.done;
    },
  };
}
