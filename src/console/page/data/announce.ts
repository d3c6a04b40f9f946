import { buildStore } from './store.ts';

/** The text of the polite live region. */
export const announcement = buildStore('');

const PAUSE_MS = 5000;
let last = -Infinity;
let waiting: ReturnType<typeof setTimeout> | undefined;

/** Announces a text to screen readers, at most one every five seconds. A newer text replaces a pending one. */
export function announce(text: string): void {
  clearTimeout(waiting);
  const delay = Math.max(0, last + PAUSE_MS - performance.now());
  waiting = setTimeout(() => {
    last = performance.now();
    announcement.set(text);
  }, delay);
}
