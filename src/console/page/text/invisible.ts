// Tests: test/console/text.test.ts

/** Characters that are invisible or change the text direction: the reader must approve exactly what runs. */
const INVISIBLE: readonly (readonly [first: number, last: number])[] = [
  [0x00, 0x08],
  [0x0b, 0x0c],
  [0x0e, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xe0000, 0xe0fff],
];
const PLAIN = /^[\t\n\r -~]*$/;

export type Segment = { text: string; isMark: boolean };

function isInvisible(code: number): boolean {
  if (code >= 0x20 && code < 0x7f) return false;
  return INVISIBLE.some(([first, last]) => code >= first && code <= last);
}

/** Maximum number of mark elements per text. Further marks become plain text. */
const MAX_MARKS = 500;

function nameCharacter(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Splits a text: invisible characters become marks such as `U+202E`, repeated ones `U+200B ×12`. */
export function splitInvisible(text: string): Segment[] {
  if (text === '') return [];
  if (PLAIN.test(text)) return [{ text, isMark: false }];
  const segments: Segment[] = [];
  let marks = 0;
  let visible = '';
  let previous = -1;
  let repeats = 0;
  const flush = () => {
    if (previous === -1) return;
    const name = repeats === 1 ? nameCharacter(previous) : `${nameCharacter(previous)} ×${repeats}`;
    previous = -1;
    marks += 1;
    if (marks > MAX_MARKS) {
      visible += `⟨${name}⟩`;
      return;
    }
    if (visible !== '') segments.push({ text: visible, isMark: false });
    visible = '';
    segments.push({ text: name, isMark: true });
  };
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code === previous) {
      repeats += 1;
      continue;
    }
    flush();
    if (isInvisible(code)) {
      previous = code;
      repeats = 1;
    } else visible += character;
  }
  flush();
  if (visible !== '') segments.push({ text: visible, isMark: false });
  return segments;
}
