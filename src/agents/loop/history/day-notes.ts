import type { LogEvent } from '../../log/event.ts';
import { findPrompt } from '../../log/read.ts';
import { dayOf, describeDay } from '../turn/environment.ts';
import type { HistoryEntry } from './build.ts';

/**
 * The history with the day before each prompt of a turn that started on another day than the session, which the system
 * prompt names. Each note depends on its own turn alone, so that leaving out others changes nothing. Pure.
 */
export function addDayNotes(
  entries: readonly HistoryEntry[],
  log: readonly LogEvent[],
  startedOn: string,
): HistoryEntry[] {
  const days = new Map<string, string>();
  for (const event of log) {
    if (event.turnId !== null && findPrompt(event) !== undefined) days.set(event.turnId, dayOf(event.createdAt));
  }
  return entries.map((entry): HistoryEntry => {
    const day = days.get(entry.key);
    if (day === undefined || day === startedOn || entry.message.role !== 'user') return entry;
    const text = `[Today is ${describeDay(new Date(day))}.]`;
    return { ...entry, message: { role: 'user', content: [{ type: 'text', text }, ...entry.message.content] } };
  });
}
