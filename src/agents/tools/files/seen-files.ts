import type { ToolState } from '../tool.ts';

/** What the session has read and written: by path, when the file was last known and which pages of it were shown. */
type Seen = Record<string, { modifiedMs: number; pages: Record<string, { modifiedMs: number; repeats: number }> }>;

const KEY = 'files';
const MAX_PATHS = 200;
const MAX_PAGES = 50;

function readSeen(state: ToolState): Seen {
  return structuredClone(state.get<Seen>(KEY) ?? {});
}

function save(state: ToolState, seen: Seen): void {
  const entries = Object.entries(seen);
  state.set(KEY, Object.fromEntries(entries.slice(Math.max(0, entries.length - MAX_PATHS))));
}

/** How often this page was asked for again since it was last shown; 0 shows it. */
export function noteRead(state: ToolState, path: string, page: string, modifiedMs: number): number {
  const seen = readSeen(state);
  const old = seen[path] ?? { modifiedMs, pages: {} };
  const before = old.pages[page];
  const repeats = before?.modifiedMs === modifiedMs ? before.repeats + 1 : 0;
  // last used comes last, so the oldest go first
  delete seen[path];
  delete old.pages[page];
  const pages = Object.entries({ ...old.pages, [page]: { modifiedMs, repeats } });
  seen[path] = { modifiedMs, pages: Object.fromEntries(pages.slice(Math.max(0, pages.length - MAX_PAGES))) };
  save(state, seen);
  return repeats;
}

/** The session knows this version, because it wrote it. */
export function noteWrite(state: ToolState, path: string, modifiedMs: number): void {
  const seen = readSeen(state);
  const pages = seen[path]?.pages ?? {};
  delete seen[path];
  seen[path] = { modifiedMs, pages };
  save(state, seen);
}

/** A warning when the session has seen the file and it is another by now. */
export function warnIfChanged(state: ToolState, path: string, modifiedMs: number): string | undefined {
  const known = readSeen(state)[path];
  return known === undefined || known.modifiedMs === modifiedMs
    ? undefined
    : `${path} was changed by something else since it was last read in this session. Read it again to see what it holds now.`;
}

/** After compaction the model no longer has what it read: pages are shown again. */
export function forgetPages(state: ToolState): void {
  const seen = readSeen(state);
  for (const entry of Object.values(seen)) entry.pages = {};
  save(state, seen);
}
