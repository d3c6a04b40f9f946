/** A stretch of the text: `[start, end)` in UTF-16 units. */
export type TextRange = { start: number; end: number };

/** Every place of `needle`, not overlapping. */
export function findAll(text: string, needle: string): TextRange[] {
  const found: TextRange[] = [];
  if (needle === '') return found;
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) {
    found.push({ start: at, end: at + needle.length });
  }
  return found;
}

export type Lines = { lines: string[]; starts: number[] };

export function splitLines(text: string): Lines {
  const lines = text.split('\n');
  const starts: number[] = [];
  let at = 0;
  for (const line of lines) {
    starts.push(at);
    at += line.length + 1;
  }
  return { lines, starts };
}

/** The text of lines `first` to `first + count - 1`, without the last one's newline. */
export function lineRange({ lines, starts }: Lines, first: number, count: number): TextRange {
  const last = first + count - 1;
  return { start: starts[first] ?? 0, end: (starts[last] ?? 0) + (lines[last] ?? '').length };
}

/** Every run of lines that `fits` accepts, not overlapping. A final newline of the pattern is no line of its own. */
export function findWindows(
  text: string,
  pattern: string,
  fits: (window: string[], wanted: string[]) => boolean,
): TextRange[] {
  const all = splitLines(text);
  const wanted = splitLines(pattern).lines;
  const newline = wanted.length > 1 && wanted.at(-1) === '';
  if (newline) wanted.pop();
  const found: TextRange[] = [];
  for (let first = 0; first + wanted.length <= all.lines.length; first++) {
    if (!fits(all.lines.slice(first, first + wanted.length), wanted)) continue;
    const range = lineRange(all, first, wanted.length);
    found.push(newline && text[range.end] === '\n' ? { start: range.start, end: range.end + 1 } : range);
    first += wanted.length - 1;
  }
  return found;
}

/** A rewritten text that knows where each of its characters came from. */
export type Mapped = { text: string; from: number[]; to: number[] };

/** Rewrites each match of `pattern` by `rewrite`, all else stays. */
export function mapText(text: string, pattern: RegExp, rewrite: (match: string) => string): Mapped {
  const mapped: Mapped = { text: '', from: [], to: [] };
  const parts: string[] = [];
  const add = (part: string, start: number, end: number, single: boolean): void => {
    parts.push(part);
    for (let i = 0; i < part.length; i++) {
      mapped.from.push(single ? start + i : start);
      mapped.to.push(single ? start + i + 1 : end);
    }
  };
  let at = 0;
  for (const match of text.matchAll(pattern)) {
    add(text.slice(at, match.index), at, match.index, true);
    at = match.index + match[0].length;
    add(rewrite(match[0]), match.index, at, false);
  }
  add(text.slice(at), at, text.length, true);
  mapped.text = parts.join('');
  return mapped;
}

/** Ranges of the rewritten text, in the original. */
export function mapBack(mapped: Mapped, ranges: TextRange[]): TextRange[] {
  return ranges.map(({ start, end }) => ({ start: mapped.from[start] ?? 0, end: mapped.to[end - 1] ?? 0 }));
}
