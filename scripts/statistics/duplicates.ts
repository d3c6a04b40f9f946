/** A shorter block is an idiom of the language, not a copy. */
const BLOCK_LINES = 5;
/** With fewer letters a block is mostly punctuation (`});`). */
const MIN_LETTERS = 60;

/** Number of lines in blocks of at least five lines that occur more than once, without imports and blank lines. */
export function countDuplicates(texts: readonly string[]): number {
  const files = texts.map((text) =>
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '' && !line.startsWith('import ')),
  );
  const places = new Map<string, [number, number][]>();
  for (const [file, lines] of files.entries()) {
    for (let start = 0; start + BLOCK_LINES <= lines.length; start += 1) {
      const block = lines.slice(start, start + BLOCK_LINES).join('\n');
      if (block.replaceAll(/[^a-z]/gi, '').length < MIN_LETTERS) continue;
      const known = places.get(block);
      if (known) known.push([file, start]);
      else places.set(block, [[file, start]]);
    }
  }
  const duplicated = new Set<string>();
  for (const found of places.values()) {
    if (found.length < 2) continue;
    for (const [file, start] of found) {
      for (let line = start; line < start + BLOCK_LINES; line += 1) duplicated.add(`${file}:${line}`);
    }
  }
  return duplicated.size;
}
