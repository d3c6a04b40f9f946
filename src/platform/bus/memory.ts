import type { Bus, BusMessage } from './bus.ts';
import { matchesSubject, requirePublishable, requireSendable } from './subject.ts';

type Kept = { subject: string; json: string; at: number };
type Listener = { pattern: string; handler: (message: BusMessage) => void; queue: string | undefined };

const KEPT_MS = 3_600_000;
const KEPT_PER_SUBJECT = 5_000;
const KEPT_CHARACTERS = 64 * 1024 * 1024;

/**
 * The bus of one process, with the same contract as the one between processes: data is copied, delivery comes later and
 * in order. Keeps at most an hour, 5,000 messages a subject and 64 Mi characters in all for `replay`.
 */
export function openMemoryBus(options: { now?: () => number; maxCharacters?: number } = {}): Bus {
  const now = options.now ?? Date.now;
  const maxCharacters = options.maxCharacters ?? KEPT_CHARACTERS;
  const listeners = new Set<Listener>();
  const kept = new Map<string, Kept>();
  const idsBySubject = new Map<string, string[]>();
  const turns = new Map<string, number>();
  let characters = 0;
  let pending: { subject: string; json: string; to: Listener[] }[] = [];

  function receivers(subject: string): Listener[] {
    const matching = [...listeners].filter(({ pattern }) => matchesSubject(pattern, subject));
    const groups = Map.groupBy(matching, ({ queue }) => queue);
    return [...groups].flatMap(([queue, members]) => {
      if (queue === undefined) return members;
      const turn = turns.get(queue) ?? 0;
      turns.set(queue, turn + 1);
      return members[turn % members.length] ?? [];
    });
  }

  function deliver(): void {
    const messages = pending;
    pending = [];
    for (const { subject, json, to } of messages) {
      for (const listener of to) {
        // Closed since the message was sent.
        if (!listeners.has(listener)) continue;
        try {
          listener.handler({ subject, data: JSON.parse(json) as unknown });
        } catch (error) {
          process.emitWarning(error instanceof Error ? error : String(error));
        }
      }
    }
  }

  function enqueue(subject: string, json: string): void {
    const to = receivers(subject);
    if (to.length > 0 && pending.push({ subject, json, to }) === 1) setImmediate(deliver);
  }

  /** The oldest message of all is the oldest of its subject. */
  function dropOldest(id: string, { subject, json }: Kept): void {
    kept.delete(id);
    characters -= json.length;
    const ids = idsBySubject.get(subject) ?? [];
    ids.splice(ids.indexOf(id), 1);
    if (ids.length === 0) idsBySubject.delete(subject);
  }

  function keep(id: string, message: Kept): void {
    kept.set(id, message);
    characters += message.json.length;
    const ids = idsBySubject.get(message.subject) ?? [];
    idsBySubject.set(message.subject, ids);
    if (ids.push(id) > KEPT_PER_SUBJECT) {
      const oldest = ids[0] ?? id;
      dropOldest(oldest, kept.get(oldest) ?? message);
    }
    for (const [oldId, entry] of kept) {
      if (characters <= maxCharacters && entry.at > now() - KEPT_MS) break;
      dropOldest(oldId, entry);
    }
  }

  return {
    send: (subject, data) => {
      requireSendable(subject);
      enqueue(subject, JSON.stringify(data));
    },
    publish: async (subject, data, id) => {
      requirePublishable(subject);
      if (!kept.has(id)) {
        const json = JSON.stringify(data);
        keep(id, { subject, json, at: now() });
        enqueue(subject, json);
      }
    },
    subscribe: (pattern, handler, { queue } = {}) => {
      const listener = { pattern, handler, queue };
      listeners.add(listener);
      return Promise.resolve({ close: () => void listeners.delete(listener) });
    },
    replay: (subject, since) => {
      const from = Math.max(since.getTime(), now() - KEPT_MS + 1);
      const messages = (idsBySubject.get(subject) ?? []).flatMap((id) => kept.get(id) ?? []);
      return Promise.resolve(
        messages.flatMap(({ at, json }) => (at >= from ? { subject, data: JSON.parse(json) as unknown } : [])),
      );
    },
    ping: () => Promise.resolve(),
    close: () => {
      listeners.clear();
      kept.clear();
      idsBySubject.clear();
      return Promise.resolve();
    },
  };
}
