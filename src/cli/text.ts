import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

/** Colors for a terminal; NO_COLOR and pipes get the bare text. */
export function paint(format: Format, text: string): string {
  return styleText(format, text, { stream: process.stdout });
}

/** A zero-width joiner between two pictures makes one picture of them; anywhere else it only hides. */
const JOINED_PICTURES =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\u{FE0F}])\u{200D}(?=\p{Extended_Pictographic})/u;
const INVISIBLE = /[\p{Cf}\u{2028}\u{2029}]/gu;

/** Characters without a shape of their own, which reorder or hide text, as `\u{202e}`. */
function escapeInvisible(text: string): string {
  return text.replaceAll(INVISIBLE, (character, index: number) => {
    if (character === '\u{200D}' && JOINED_PICTURES.test(text.slice(Math.max(0, index - 2), index + 3)))
      return character;
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/**
 * Text of models and tools as a terminal may show it: without control characters, which could move and recolor it, and
 * with invisible ones as escapes.
 */
export function cleanText(text: string): string {
  return escapeInvisible(text.replaceAll('\r\n', '\n').replaceAll(/[^\P{Cc}\n\t]/gu, ''));
}

/** One line of at most `width` characters. */
export function cutLine(text: string, width: number): string {
  const line = cleanText(text).replaceAll(/\s+/g, ' ').trim();
  return line.length > width ? `${line.slice(0, Math.max(1, width - 1))}…` : line;
}

/** Columns as wide as their content; the last one is left open. */
export function buildTable(headers: string[], rows: string[][]): string {
  const clean = rows.map((row) => row.map((cell) => cutLine(cell, 60)));
  const widths = headers.map((header, column) =>
    Math.max(header.length, ...clean.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [paint('dim', line(headers)), ...clean.map(line)].join('\n');
}

/** Names and values, one a line. */
export function buildFields(fields: Record<string, string | number | null | undefined>): string {
  const shown = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${paint('dim', name.padEnd(width))}  ${cleanText(String(value))}`).join('\n');
}

/** `2026-01-31 09:30`, local time. */
export function showTime(timestamp: string): string {
  const date = new Date(timestamp);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
