import { unescapeLiterals } from './strategies.ts';
import { keepTypography } from './unicode.ts';

/** A sentence when both texts carry `\'` or `\"` that the file does not: the escapes came from the transport. */
export function findEscapeDrift(region: string, old: string, next: string): string | undefined {
  const drifted = ["\\'", '\\"'].find(
    (escape) => old.includes(escape) && next.includes(escape) && !region.includes(escape),
  );
  return drifted === undefined
    ? undefined
    : `Escape drift: old_string and new_string contain ${drifted} but the file does not. Send the text without the backslashes.`;
}

function indentOf(text: string): string {
  const line = text.split('\n').find((item) => item.trim() !== '') ?? '';
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

/** Moves `next` by what lies between the indentation that was asked for and the one that the file has. */
function reindent(region: string, old: string, next: string): string {
  const wanted = indentOf(old);
  const real = indentOf(region);
  if (wanted === real) return next;
  return next
    .split('\n')
    .map((line) => (line.trim() !== '' && line.startsWith(wanted) ? real + line.slice(wanted.length) : line))
    .join('\n');
}

/** What really goes in place of a region that was not matched to the letter. */
export function adaptReplacement(strategy: string, region: string, old: string, next: string): string {
  let text = next;
  if (strategy === 'escape_normalized') {
    if (region.includes('\n')) text = text.replaceAll('\\n', '\n');
  } else text = keepTypography(region, old, text);
  if (region.includes('\t')) text = text.replaceAll('\\t', '\t');
  if (region.includes('\r')) text = text.replaceAll('\\r', '\r');
  return strategy === 'escape_normalized' ? reindent(region, unescapeLiterals(old), text) : reindent(region, old, text);
}
