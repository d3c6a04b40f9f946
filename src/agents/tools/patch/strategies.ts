import { findAll, findWindows, lineRange, mapBack, mapText, splitLines } from './ranges.ts';
import type { TextRange } from './ranges.ts';
import { similarity } from './similarity.ts';
import { mapPlain } from './unicode.ts';

export type Strategy = {
  name: string;
  /** a guess by likeness, never used for replacing all */
  loose?: true;
  find(text: string, pattern: string): TextRange[];
};

const byLine =
  (change: (line: string) => string) =>
  (window: string[], wanted: string[]): boolean =>
    wanted.every((line, index) => change(line) === change(window[index] ?? ''));

const trim = (line: string): string => line.trim();
const hasText = (text: string): boolean => text.trim() !== '';

/** Literal `\n`, `\t`, `\r` as the characters they stand for. */
export function unescapeLiterals(text: string): string {
  return text.replaceAll('\\n', '\n').replaceAll('\\t', '\t').replaceAll('\\r', '\r');
}

function findCollapsed(text: string, pattern: string): TextRange[] {
  const blanks = /[ \t]+/g;
  const mapped = mapText(text, blanks, () => ' ');
  return mapBack(mapped, findAll(mapped.text, pattern.replace(blanks, ' ')));
}

function findUnescaped(text: string, pattern: string): TextRange[] {
  const plain = unescapeLiterals(pattern);
  return plain === pattern ? [] : findAll(text, plain);
}

function findTrimmedEnds(text: string, pattern: string): TextRange[] {
  return findWindows(text, pattern, (window, wanted) => {
    const last = wanted.length - 1;
    return wanted.every((line, index) => {
      const other = window[index] ?? '';
      return index === 0 || index === last ? trim(line) === trim(other) : line === other;
    });
  });
}

function findPlain(text: string, pattern: string): TextRange[] {
  const mapped = mapPlain(text);
  const wanted = mapPlain(pattern).text;
  const exact = findAll(mapped.text, wanted);
  return mapBack(mapped, exact.length > 0 ? exact : findWindows(mapped.text, wanted, byLine(trim)));
}

/** First and last line equal, the middle alike: by half when there is one candidate, by 0.7 when there are more. */
function findAnchored(text: string, pattern: string): TextRange[] {
  const wanted = splitLines(pattern.replace(/\n$/, '')).lines.map((line) => mapPlain(line).text.trim());
  if (wanted.length < 3 || !hasText(wanted[0] ?? '') || !hasText(wanted.at(-1) ?? '')) return [];
  const all = splitLines(text);
  const lines = all.lines.map((line) => mapPlain(line).text.trim());
  const candidates: number[] = [];
  for (let first = 0; first + wanted.length <= lines.length; first++) {
    if (lines[first] === wanted[0] && lines[first + wanted.length - 1] === wanted.at(-1)) candidates.push(first);
  }
  const least = candidates.length === 1 ? 0.5 : 0.7;
  const middle = wanted.slice(1, -1).join('\n');
  return candidates
    .filter((first) => similarity(lines.slice(first + 1, first + wanted.length - 1).join('\n'), middle, least) >= least)
    .map((first) => lineRange(all, first, wanted.length));
}

const LINE_LIKENESS = 0.8;

/** At least half of the lines are alike. Of windows that overlap the best stays. */
function findAlike(text: string, pattern: string): TextRange[] {
  const wanted = splitLines(pattern.replace(/\n$/, '')).lines.map(trim);
  const all = splitLines(text);
  const lines = all.lines.map(trim);
  const windows: { first: number; score: number }[] = [];
  for (let first = 0; first + wanted.length <= lines.length; first++) {
    const score = wanted.filter((line, index) => alike(line, lines[first + index] ?? '')).length;
    if (score > 0 && score >= wanted.length / 2) windows.push({ first, score });
  }
  const kept: typeof windows = [];
  for (const window of windows.toSorted((a, b) => b.score - a.score)) {
    if (kept.every((other) => Math.abs(other.first - window.first) >= wanted.length)) kept.push(window);
  }
  return kept.toSorted((a, b) => a.first - b.first).map(({ first }) => lineRange(all, first, wanted.length));
}

function alike(wanted: string, line: string): boolean {
  return hasText(wanted) && similarity(wanted, line, LINE_LIKENESS) >= LINE_LIKENESS;
}

/** In this order; the first one that finds something decides. */
export const STRATEGIES: readonly Strategy[] = [
  { name: 'exact', find: findAll },
  { name: 'line_trimmed', find: (text, pattern) => findWindows(text, pattern, byLine(trim)) },
  { name: 'whitespace_normalized', find: findCollapsed },
  {
    name: 'indentation_flexible',
    find: (text, pattern) =>
      findWindows(
        text,
        pattern,
        byLine((line) => line.trimStart()),
      ),
  },
  { name: 'escape_normalized', find: findUnescaped },
  { name: 'trimmed_boundary', find: findTrimmedEnds },
  { name: 'unicode_normalized', find: findPlain },
  { name: 'block_anchor', loose: true, find: findAnchored },
  { name: 'context_aware', loose: true, find: findAlike },
];
