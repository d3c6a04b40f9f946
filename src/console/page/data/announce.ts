import { buildStore } from './store.ts';

/** What the polite live region says. */
export const announcement = buildStore('');

const PAUSE_MS = 5000;
let last = -Infinity;
let waiting: ReturnType<typeof setTimeout> | undefined;

/** Says a text to screen readers, at most one every five seconds; the last one wins. */
export function announce(text: string): void {
  clearTimeout(waiting);
  const delay = Math.max(0, last + PAUSE_MS - performance.now());
  waiting = setTimeout(() => {
    last = performance.now();
    announcement.set(text);
  }, delay);
}
