import { ENTRY_SEPARATOR, countCharacters, joinEntries } from '../../contract/memory.ts';
import { findDanger } from '../find-danger.ts';

export type MemoryOperation = { action: string; content: string; oldText: string };

export type Applied =
  | { ok: true; entries: string[]; changed: boolean }
  | { ok: false; error: string; entries: boolean; full: boolean };

const PREVIEW = 80;

/** Carries out all operations or none; the size is judged when all are done. Pure. */
export function applyOperations(
  entries: readonly string[],
  operations: readonly MemoryOperation[],
  limit: number,
): Applied {
  let current = [...entries];
  for (const [index, operation] of operations.entries()) {
    const result = apply(current, operation);
    const place = operations.length === 1 ? '' : `Operation ${index + 1}: `;
    if ('error' in result) return { ok: false, error: place + result.error, entries: result.entries, full: false };
    current = result.next;
  }
  const size = countCharacters(joinEntries(current));
  if (size > limit && size > countCharacters(joinEntries(entries))) {
    const error =
      `This would make ${size} of ${limit} characters, and nothing was written. Replace or remove entries first: ` +
      'several operations can go in one call.';
    return { ok: false, error, entries: true, full: true };
  }
  const changed = current.length !== entries.length || current.some((entry, index) => entry !== entries[index]);
  return { ok: true, entries: current, changed };
}

type Step = { next: string[] } | { error: string; entries: boolean };

function refuse(error: string, entries = false): Step {
  return { error, entries };
}

function apply(entries: string[], { action, content, oldText }: MemoryOperation): Step {
  const text = content.trim();
  const flaw = action === 'remove' ? undefined : findFlaw(text);
  if (flaw !== undefined) return refuse(flaw);
  if (action === 'add') return { next: entries.includes(text) ? entries : [...entries, text] };
  if (action !== 'replace' && action !== 'remove') return refuse('action must be add, replace or remove.');
  const found = findEntry(entries, oldText.trim());
  if ('error' in found) return found;
  const rest = (entry: string): string[] => (action === 'remove' ? [] : [entry]);
  return { next: entries.flatMap((entry, index) => (index === found.index ? rest(text) : [entry])) };
}

function findFlaw(text: string): string | undefined {
  if (text === '') return 'content must not be empty.';
  if (`\n${text}\n`.includes(ENTRY_SEPARATOR)) return 'content must be one entry: it must not hold a line "§".';
  const danger = findDanger(text);
  if (danger === undefined) return undefined;
  return `This was not saved: it looks like ${danger}, and it would reach the prompts of later sessions.`;
}

function findEntry(entries: readonly string[], part: string): { index: number } | { error: string; entries: boolean } {
  if (part === '') return { error: 'old_text must name a part of the entry.', entries: false };
  const matches = entries.flatMap((entry, index) => (entry.includes(part) ? [{ entry, index }] : []));
  const [first] = matches;
  if (first === undefined) return { error: `No entry holds "${part.slice(0, PREVIEW)}".`, entries: true };
  if (new Set(matches.map(({ entry }) => entry)).size === 1) return { index: first.index };
  const previews = matches.map(({ entry }) => `"${entry.slice(0, PREVIEW)}"`).join(', ');
  return { error: `Several entries match; old_text must be more exact: ${previews}`, entries: false };
}
