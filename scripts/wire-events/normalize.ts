const ID = /\b([a-z]{2,5})_[0-9a-hjkmnp-tv-z]{26}\b/g;
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
/** The same inside a tool's result, which is text. */
const QUOTED_DURATION = /(\\"duration_seconds\\":)[\d.]+/g;
/** The random token of guidance, which the scripted model quotes. */
const GUIDANCE = /(<\/?user-guidance )[0-9a-f]+/g;
/** Fields whose value depends on the machine's speed. */
const DURATIONS = new Set(['duration_ms', 'duration_seconds', 'latency_ms', 'last_turn_latency_ms']);

/** Counts of `usage` that depend on the wording of the system prompt, which is not part of the wire. */
const COUNTS = new Set(['input', 'output', 'total', 'context_used', 'context_percent']);

const isMeasure = (field: string, item: unknown): boolean =>
  typeof item === 'number' && (DURATIONS.has(field) || COUNTS.has(field));

/**
 * Replaces identifiers by their order of appearance and times by a word, so that two runs of the same turns are equal.
 */
export function normalize(value: unknown): unknown {
  const names = new Map<string, string>();
  const rename = (id: string, prefix: string): string => {
    const name = names.get(id) ?? `${prefix}_${names.size + 1}`;
    names.set(id, name);
    return name;
  };
  const json = JSON.stringify(value, (field, item: unknown) => (isMeasure(field, item) ? 0 : item));
  return JSON.parse(
    json.replace(ID, rename).replace(TIME, 'TIME').replace(QUOTED_DURATION, '$10').replace(GUIDANCE, '$1TOKEN'),
  );
}

/** With sorted keys: a frame sent live and one read back from the database have them in different orders. */
function sortKeys(_: string, item: unknown): unknown {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
  return Object.fromEntries(Object.entries(item).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}

/** The differing lines of two JSON values, as `- before` and `+ after`; none if they are equal. */
export function diffJson(before: unknown, after: unknown): string[] {
  const [left, right] = [before, after].map((value) => JSON.stringify(value, sortKeys, 1).split('\n'));
  return diffLines(left ?? [], right ?? []);
}

/** By a table of longest common subsequences: the recordings have a few thousand lines at most. */
function diffLines(left: readonly string[], right: readonly string[]): string[] {
  const width = right.length + 1;
  const lengths = new Uint32Array((left.length + 1) * width);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = left.length - 1; row >= 0; row -= 1)
    for (let column = right.length - 1; column >= 0; column -= 1)
      lengths[row * width + column] =
        left[row] === right[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: string[] = [];
  let row = 0;
  let column = 0;
  while (row < left.length || column < right.length) {
    if (row < left.length && left[row] === right[column]) {
      row += 1;
      column += 1;
    } else if (row < left.length && (column === right.length || at(row + 1, column) >= at(row, column + 1))) {
      lines.push(`- ${left[row]}`);
      row += 1;
    } else {
      lines.push(`+ ${right[column]}`);
      column += 1;
    }
  }
  return lines;
}
