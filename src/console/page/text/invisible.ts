// Tests: test/console/text.test.ts

/** Characters that show nothing or change the direction of others: what a reader approves must be what runs. */
const INVISIBLE = /[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\u{E0000}-\u{E0FFF}\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/gu;

export type Segment = { text: string; isMark: boolean };

/** The text in pieces: invisible characters become marks such as `U+202E`. */
export function splitInvisible(text: string): Segment[] {
  const segments: Segment[] = [];
  let end = 0;
  for (const match of text.matchAll(INVISIBLE)) {
    if (match.index > end) segments.push({ text: text.slice(end, match.index), isMark: false });
    const code = match[0].codePointAt(0) ?? 0;
    segments.push({ text: `U+${code.toString(16).toUpperCase().padStart(4, '0')}`, isMark: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) segments.push({ text: text.slice(end), isMark: false });
  return segments;
}
