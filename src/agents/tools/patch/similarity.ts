/** Longer texts are compared by their first characters only: the comparison is quadratic. */
const COMPARED = 600;

type Span = { aLow: number; aHigh: number; bLow: number; bHigh: number };

function longestCommon(a: string, b: string, span: Span): { a: number; b: number; size: number } {
  let best = { a: span.aLow, b: span.bLow, size: 0 };
  let previous = new Uint16Array(b.length + 1);
  let current = new Uint16Array(b.length + 1);
  for (let i = span.aLow; i < span.aHigh; i++) {
    for (let j = span.bLow; j < span.bHigh; j++) {
      const size = a[i] === b[j] ? (j > span.bLow ? (previous[j] ?? 0) : 0) + 1 : 0;
      current[j + 1] = size;
      if (size > best.size) best = { a: i - size + 1, b: j - size + 1, size };
    }
    [previous, current] = [current, previous];
  }
  return best;
}

/** What two texts have in common whatever the order: never less than the true ratio, and cheap. */
function upperBound(a: string, b: string): number {
  const counts = new Map<string, number>();
  for (const char of a) counts.set(char, (counts.get(char) ?? 0) + 1);
  let common = 0;
  for (const char of b) {
    const left = counts.get(char) ?? 0;
    if (left > 0) common += char.length;
    counts.set(char, left - 1);
  }
  return (2 * common) / (a.length + b.length);
}

/** Ratcliff and Obershelp's ratio of two texts, 0 to 1. Below `least` any smaller number may come. */
export function similarity(first: string, second: string, least = 0): number {
  if (first === second) return 1;
  const a = first.slice(0, COMPARED);
  const b = second.slice(0, COMPARED);
  if (a.length + b.length === 0) return 1;
  const bound = upperBound(a, b);
  if (bound < least) return bound;
  let common = 0;
  const open: Span[] = [{ aLow: 0, aHigh: a.length, bLow: 0, bHigh: b.length }];
  for (let span = open.pop(); span !== undefined; span = open.pop()) {
    const best = longestCommon(a, b, span);
    if (best.size === 0) continue;
    common += best.size;
    open.push({ aLow: span.aLow, aHigh: best.a, bLow: span.bLow, bHigh: best.b });
    open.push({ aLow: best.a + best.size, aHigh: span.aHigh, bLow: best.b + best.size, bHigh: span.bHigh });
  }
  return (2 * common) / (a.length + b.length);
}
