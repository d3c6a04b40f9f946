import type { InputPart, ModelMessage, TextPart } from '../../../inference/model.ts';
import type { Compaction } from '../../log/event.ts';
import { estimateTokens, pruneMessages } from './prune.ts';
import type { HistoryEntry } from '../history/build.ts';

/** A conversation is compacted when its prompt reaches this fraction of the window: before it overflows, but rarely. */
const THRESHOLD = 0.625;
/** Maximum sizes of the kept end and the kept start, as fractions of the threshold. */
const TAIL = 0.2;
const HEAD = 0.2;
const HEAD_MESSAGES = 3;
/** Up to this many messages at the end may exceed their fraction by half. */
const TAIL_MESSAGES = 20;
/** A compaction that saves less is not worth its cost; after two of them compaction stops. */
const WORTHWHILE = 0.1;

/** The messages that the next compaction removes. */
export type CompactionPlan = {
  head: string | null;
  tail: string;
  prompt: string | null;
  /** entries that no summary covers yet, and those of the kept start if it loses results */
  fresh: HistoryEntry[];
  /** the agent's last message, if neither the kept end nor the kept start contains it */
  lastSaid: string | undefined;
};

export function findThreshold(contextWindow: number): number {
  return Math.floor(contextWindow * THRESHOLD);
}

/** Whether the latest compactions saved too little for another one to help. */
export function isThrashing(earlier: readonly Pick<Compaction, 'saved'>[]): boolean {
  const last = earlier.slice(-2);
  return last.length === 2 && last.every(({ saved }) => saved < WORTHWHILE);
}

/**
 * Plans which messages to remove; undefined if none can be. The start and the end stay, and calls stay with their
 * results. `scale` corrects the token estimate by the provider's counts. Pure.
 */
export function planCompaction(
  entries: readonly HistoryEntry[],
  earlier: Compaction | undefined,
  limits: { contextWindow: number; scale: number; tight: boolean },
): CompactionPlan | undefined {
  const measure = (from: number, to: number) =>
    entries.slice(from, to).reduce((sum, { message }) => sum + estimateTokens(message), 0) * limits.scale;
  const threshold = findThreshold(limits.contextWindow);
  const lastPrompt = entries.findLastIndex(({ message }) => message.role === 'user');
  const head = earlier === undefined ? findHead(entries, lastPrompt, threshold * HEAD) : countHead(entries, earlier);
  const covered = earlier === undefined ? head : Math.max(head, findIndex(entries, earlier.tail));
  const room = limits.tight ? Math.min(threshold * TAIL, measure(covered, entries.length) / 4) : threshold * TAIL;
  let tail = findTail(entries, covered, room, measure);
  const said = entries.findLastIndex(({ message }) => readSaid(message) !== '');
  // Allows 50 % more for the last message and everything after it.
  if (said >= covered && said < tail && measure(said, tail) <= room / 2) tail = said;
  const first = entries[tail];
  const fresh = entries.slice(covered, tail);
  const shortened = earlier === undefined ? listShortened(entries.slice(0, head)) : [];
  const taken = fresh.filter((entry) => entry !== entries[lastPrompt]);
  if (first === undefined || taken.length === 0) return undefined;
  const message = entries[said]?.message;
  return {
    head: entries[head - 1]?.key ?? null,
    tail: first.key,
    prompt: lastPrompt >= head && lastPrompt < tail ? (entries[lastPrompt]?.key ?? null) : null,
    fresh: [...shortened, ...fresh],
    lastSaid: message === undefined || said < head || said >= tail ? undefined : readSaid(message),
  };
}

/**
 * The conversation with the summary in place of the messages it covers. Unchanged if the log lacks its boundaries.
 * Pure.
 */
export function applyCompaction(
  entries: readonly HistoryEntry[],
  compaction: Pick<Compaction, 'head' | 'tail' | 'prompt' | 'text'> | undefined,
): ModelMessage[] {
  const all = entries.map(({ message }) => message);
  if (compaction === undefined) return all;
  const head = countHead(entries, compaction);
  const start = findIndex(entries, compaction.tail);
  if (start < head) return all;
  const summary: TextPart = { type: 'text', text: compaction.text };
  const prompt = entries.find(({ key }) => key === compaction.prompt)?.message;
  const tail = all.slice(start);
  const next = prompt ?? (tail[0]?.role === 'user' ? tail.shift() : undefined);
  const parts: InputPart[] = next?.role === 'user' ? next.content : [];
  return [...pruneMessages(all.slice(0, head)), { role: 'user', content: [summary, ...parts] }, ...tail];
}

function findIndex(entries: readonly HistoryEntry[], key: string): number {
  return entries.findIndex((entry) => entry.key === key);
}

function countHead(entries: readonly HistoryEntry[], { head }: Pick<Compaction, 'head'>): number {
  return head === null ? 0 : findIndex(entries, head) + 1;
}

/** The first exchange: whole units that end with the agent's reply, without the current prompt. */
function findHead(entries: readonly HistoryEntry[], lastPrompt: number, room: number): number {
  let count = Math.min(HEAD_MESSAGES, lastPrompt);
  while (count > 0 && (!isStart(entries, count) || entries[count - 1]?.message.role === 'user')) count -= 1;
  const kept = pruneMessages(entries.slice(0, Math.max(0, count)).map(({ message }) => message));
  return count > 0 && estimateTokens(kept) <= room ? count : 0;
}

/** The kept start, if it loses results by being shortened. */
function listShortened(head: readonly HistoryEntry[]): readonly HistoryEntry[] {
  const messages = head.map(({ message }) => message);
  return JSON.stringify(pruneMessages(messages)) === JSON.stringify(messages) ? [] : head;
}

/** Whether a unit starts here: results belong to the reply that requested them. */
function isStart(entries: readonly HistoryEntry[], index: number): boolean {
  return entries[index]?.message.role !== 'tool';
}

function findTail(
  entries: readonly HistoryEntry[],
  head: number,
  room: number,
  measure: (from: number, to: number) => number,
): number {
  let tail = entries.length;
  let size = 0;
  for (let index = tail - 1; index >= head; index -= 1) {
    if (!isStart(entries, index)) continue;
    const grown = size + measure(index, tail);
    const isSmall = entries.length - index <= TAIL_MESSAGES && grown <= room * 1.5;
    // The last exchange stays, regardless of its length.
    if (size > 0 && grown > room && !isSmall) break;
    [tail, size] = [index, grown];
  }
  return tail;
}

function readSaid(message: ModelMessage): string {
  if (message.role !== 'assistant') return '';
  return message.content
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n')
    .trim();
}
