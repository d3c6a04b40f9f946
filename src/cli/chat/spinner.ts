import type { Writable } from 'node:stream';
import { cutLine, paint } from '../text.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 120;
const CLEAR = '\r\u001B[K';

/** A line that moves while a turn runs: what happens, and for how long. It is there only while nothing else is written. */
export type Spinner = {
  /** Starts it, or says what happens now; the time counts from the last change. */
  show(label: string): void;
  /** Removes the line until the next frame; before anything is written. */
  clear(): void;
  stop(): void;
};

/** `canDraw`: whether the cursor is at the beginning of a line. */
export function openSpinner(out: Writable & { columns?: number }, canDraw: () => boolean): Spinner {
  let label = '';
  let since = 0;
  let frame = 0;
  let isDrawn = false;
  let timer: NodeJS.Timeout | undefined;
  const clear = (): void => {
    if (isDrawn) out.write(CLEAR);
    isDrawn = false;
  };
  const draw = (): void => {
    if (!isDrawn && !canDraw()) return;
    frame = (frame + 1) % FRAMES.length;
    const seconds = Math.floor((performance.now() - since) / 1000);
    const time = seconds === 0 ? '' : ` ${seconds} s`;
    const text = `${cutLine(label, (out.columns ?? 80) - 12)}${time}`;
    out.write(`${CLEAR}${paint('cyan', FRAMES[frame] ?? '')} ${paint('dim', text)}`);
    isDrawn = true;
  };
  return {
    show(next) {
      if (next !== label || timer === undefined) since = performance.now();
      label = next;
      timer ??= setInterval(draw, FRAME_MS);
      timer.unref();
    },
    clear,
    stop() {
      clear();
      clearInterval(timer);
      timer = undefined;
    },
  };
}
