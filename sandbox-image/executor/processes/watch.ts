/** A process may send one notice per window; further matches are dropped and counted. */
const WINDOW_MS = 15_000;
/** After this many windows with drops the watch ends and the process reports its exit instead. */
const MAX_DROPPED_WINDOWS = 3;
const GLOBAL_HITS = 15;
const GLOBAL_WINDOW_MS = 10_000;
const GLOBAL_PAUSE_MS = 30_000;

/** Limits the notices of all processes together: 15 in 10 s, then none for 30 s. */
export function buildGlobalLimit(now: () => number): () => boolean {
  let hits: number[] = [];
  let pausedUntil = 0;
  return () => {
    const time = now();
    if (time < pausedUntil) return false;
    hits = [...hits.filter((hit) => time - hit < GLOBAL_WINDOW_MS), time];
    if (hits.length <= GLOBAL_HITS) return true;
    pausedUntil = time + GLOBAL_PAUSE_MS;
    return false;
  };
}

export type Watch = { push(text: string): void };

/** Looks for `patterns` (plain substrings) in the output, line by line. */
export function buildWatch(options: {
  patterns: string[];
  now: () => number;
  allow: () => boolean;
  onHit: (text: string) => void;
  /** the watch matched too often and has ended */
  onDisabled: () => void;
}): Watch {
  let partial = '';
  let lastSent = -Infinity;
  let droppedSince = false;
  let droppedWindows = 0;
  let dropped = 0;
  let over = false;

  const hit = (line: string, pattern: string): void => {
    const time = options.now();
    if (time - lastSent < WINDOW_MS) {
      dropped += 1;
      droppedSince = true;
      return;
    }
    droppedWindows = droppedSince ? droppedWindows + 1 : 0;
    droppedSince = false;
    if (droppedWindows >= MAX_DROPPED_WINDOWS) {
      over = true;
      options.onDisabled();
      return;
    }
    if (!options.allow()) return;
    lastSent = time;
    const note = dropped === 0 ? '' : ` (${dropped} earlier matches were left out)`;
    dropped = 0;
    options.onHit(`matched ${JSON.stringify(pattern)}${note}:\n${line.slice(0, 2000)}`);
  };

  return {
    push(text) {
      if (over) return;
      const lines = (partial + text).split('\n');
      partial = (lines.pop() ?? '').slice(-4000);
      for (const line of lines) {
        const pattern = options.patterns.find((item) => line.includes(item));
        if (pattern !== undefined && !over) hit(line, pattern);
      }
    },
  };
}
