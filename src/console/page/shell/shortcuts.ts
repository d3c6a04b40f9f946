// Tests: test/console
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

/** Whether the focused element, the browser or a dialog handles the key. */
function isTaken(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return true;
  if (!settings.get().shortcuts || isTyping(event.target)) return true;
  if (document.querySelector('dialog[open]') !== null) return true;
  const presses = event.key === 'Enter' && event.target instanceof HTMLElement;
  return presses && event.target.closest('button, a, summary') !== null;
}

/** The key, or both keys of a chord: `g i` is two keys within 1.2 s. Undefined for the first one. */
function readName(key: string): string | undefined {
  const name = pendingChord === '' ? key : `${pendingChord} ${key}`;
  clearTimeout(chordTimer);
  pendingChord = '';
  if (name !== 'g') return name;
  pendingChord = 'g';
  chordTimer = setTimeout(() => (pendingChord = ''), CHORD_MS);
  return undefined;
}

/** Ctrl-K and Cmd-K work in fields as well. */
function onKeyDown(event: KeyboardEvent): void {
  const isPalette = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
  if (!isPalette && isTaken(event)) return;
  const name = isPalette ? 'mod+k' : readName(event.key);
  const handler = name === undefined ? undefined : findHandler(name);
  if (handler === undefined) return;
  event.preventDefault();
  handler(event);
}

document.addEventListener('keydown', onKeyDown);

/** Registers keys for a part of the page while it is mounted. The latest registration takes precedence. */
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
