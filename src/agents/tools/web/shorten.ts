/** Of one page in a result, notice included. */
export const MAX_CONTENT = 5000;
/** read_file cuts lines that are twice as long. */
const MAX_LINE = 1000;
const NOTICE = 400;

/** Lines that read_file shows whole: longer ones are broken, at a space if there is one. */
export function breakLines(text: string): string {
  return text
    .split('\n')
    .flatMap((line) => (line.length <= MAX_LINE ? [line] : breakLine(line)))
    .join('\n');
}

function breakLine(line: string): string[] {
  const parts: string[] = [];
  let at = 0;
  while (line.length - at > MAX_LINE) {
    const space = line.lastIndexOf(' ', at + MAX_LINE);
    const isPair = /[\ud800-\udbff]/.test(line[at + MAX_LINE - 1] ?? '');
    const end = space > at ? space + 1 : at + MAX_LINE - (isPair ? 1 : 0);
    parts.push(line.slice(at, end).trimEnd());
    at = end;
  }
  return [...parts, line.slice(at)];
}

/** As many whole lines from the beginning as fit, and the number of the line after them, counted from 1. */
export function cutExcerpt(text: string): { excerpt: string; nextLine: number } {
  const head = text.slice(0, MAX_CONTENT - NOTICE);
  const end = head.lastIndexOf('\n');
  const excerpt = head.slice(0, end);
  return { excerpt, nextLine: excerpt.split('\n').length + 1 };
}
