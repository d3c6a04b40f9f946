import { useEffect, useRef } from 'react';
import { settings } from '../data/settings.ts';

export type Keys = Record<string, (event: KeyboardEvent) => void>;

const CHORD_MS = 1200;
const layers: { keys: Keys }[] = [];
let pendingChord = '';
let chordTimer: ReturnType<typeof setTimeout> | undefined;

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName);
}

function findHandler(name: string) {
  return layers.findLast(({ keys }) => Object.hasOwn(keys, name))?.keys[name];
}

/** `g i` is two keys within 1.2 s; Ctrl-K and Cmd-K work in fields as well. */
function onKeyDown(event: KeyboardEvent): void {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
    const open = findHandler('mod+k');
    if (open !== undefined) event.preventDefault();
    open?.(event);
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (!settings.get().shortcuts || isTyping(event.target)) return;
  // A modal dialog has its own keys.
  if (document.querySelector('dialog[open]') !== null) return;
  const name = pendingChord === '' ? event.key : `${pendingChord} ${event.key}`;
  clearTimeout(chordTimer);
  pendingChord = '';
  if (event.key === 'g' && name === 'g') {
    pendingChord = 'g';
    chordTimer = setTimeout(() => (pendingChord = ''), CHORD_MS);
    return;
  }
  const handler = findHandler(name);
  if (handler === undefined) return;
  // Enter and space press the button that has the focus.
  if (event.key === 'Enter' && event.target instanceof HTMLElement && event.target.closest('button, a, summary') !== null) return;
  event.preventDefault();
  handler(event);
}

document.addEventListener('keydown', onKeyDown);

/** Keys of a part of the page while it is there; the part that came last wins. */
export function useKeys(keys: Keys): void {
  const layer = useRef({ keys });
  layer.current.keys = keys;
  useEffect(() => {
    const { current } = layer;
    layers.push(current);
    return () => {
      layers.splice(layers.indexOf(current), 1);
    };
  }, []);
}
