/** Milliseconds between two frames, and so also before the first: a quick command sends none. */
const PAUSE_MS = 200;
/** Characters of a frame: of more output in one pause the beginning is left out. */
const FRAME_CAP = 8000;

/** Passes output on while a command runs, in few and small frames. The result has all of it. */
export function openLiveOutput(send: (text: string) => void) {
  let waiting = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    const text = waiting;
    waiting = '';
    send(text);
  };
  return {
    push(text: string): void {
      if (text === '') return;
      waiting = (waiting + text.slice(-FRAME_CAP)).slice(-FRAME_CAP);
      timer ??= setTimeout(flush, PAUSE_MS);
    },
    /** Nothing is sent afterwards. */
    stop: () => clearTimeout(timer),
  };
}
