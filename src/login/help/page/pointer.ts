import { NAMED_KEYS } from '../named-keys.ts';
import type { Sender } from './sender.ts';

const BUTTONS = ['left', 'middle', 'right'];
const NAMED: ReadonlySet<string> = new Set(NAMED_KEYS);

type Point = { clientX: number; clientY: number };

/** A position as fractions of the picture. */
function locate(picture: HTMLElement, { clientX, clientY }: Point): { x: number; y: number } {
  const { left, top, width, height } = picture.getBoundingClientRect();
  const clamp = (value: number) => Math.min(1, Math.max(0, value));
  return { x: clamp((clientX - left) / (width || 1)), y: clamp((clientY - top) / (height || 1)) };
}

/** Forwards mouse, pen and touch input. A finger taps and pans, unless `isDragging`. */
export function passPointer(
  view: HTMLElement,
  picture: HTMLElement,
  { sender, isDragging }: { sender: Sender; isDragging: () => boolean },
): void {
  let lastPress = { at: 0, clicks: 0, x: 0, y: 0 };
  const isPassed = ({ pointerType }: PointerEvent) => pointerType !== 'touch' || isDragging();
  const countClicks = (at: { x: number; y: number }, now: number) => {
    const isNear = Math.abs(at.x - lastPress.x) < 0.01 && Math.abs(at.y - lastPress.y) < 0.01;
    const clicks = isNear && now - lastPress.at < 400 ? Math.min(3, lastPress.clicks + 1) : 1;
    lastPress = { at: now, clicks, ...at };
    return clicks;
  };
  picture.addEventListener('pointerdown', (event) => {
    if (!isPassed(event)) return;
    event.preventDefault();
    view.focus({ preventScroll: true });
    picture.setPointerCapture(event.pointerId);
    const at = locate(picture, event);
    const clicks = countClicks(at, event.timeStamp);
    sender.send({ type: 'down', ...at, button: BUTTONS[event.button] ?? 'left', clicks });
  });
  picture.addEventListener('pointerup', (event) => {
    if (!isPassed(event)) return;
    const at = locate(picture, event);
    sender.send({ type: 'up', ...at, button: BUTTONS[event.button] ?? 'left', clicks: Math.max(1, lastPress.clicks) });
  });
  picture.addEventListener('pointermove', (event) => {
    if (isPassed(event)) sender.send({ type: 'move', ...locate(picture, event) });
  });
  picture.addEventListener('click', (event) => {
    if (!(event instanceof PointerEvent) || event.pointerType !== 'touch' || isDragging()) return;
    const pressed = { ...locate(picture, event), button: 'left', clicks: 1 };
    sender.send({ type: 'down', ...pressed }, { type: 'up', ...pressed });
  });
  picture.addEventListener('contextmenu', (event) => event.preventDefault());
  picture.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      const limit = (value: number) => Math.max(-5000, Math.min(5000, value));
      sender.send({ type: 'wheel', ...locate(picture, event), dx: limit(event.deltaX), dy: limit(event.deltaY) });
    },
    { passive: false },
  );
}

/** Forwards keys and pasted text. Shift and Escape leave the picture. */
export function passKeys(view: HTMLElement, sender: Sender): void {
  view.addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (event.isComposing) return;
    if (shiftKey && key === 'Escape') {
      view.blur();
      return;
    }
    // The browser's own paste event brings the text.
    if ((ctrlKey || metaKey) && key.toLowerCase() === 'v') return;
    if (!/^.$/su.test(key) && !NAMED.has(key)) return;
    event.preventDefault();
    const held = { Control: ctrlKey, Meta: metaKey, Alt: altKey, Shift: shiftKey };
    const modifiers = Object.entries(held).flatMap(([name, isHeld]) => (isHeld ? [name] : []));
    sender.send({ type: 'key', key, modifiers });
  });
  view.addEventListener('paste', (event) => {
    event.preventDefault();
    const text = event.clipboardData?.getData('text/plain').slice(0, 4096) ?? '';
    if (text !== '') sender.send({ type: 'text', text });
  });
}
