// Tests: test/cli/paste.test.ts
import { Transform } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** Terminals that know these wrap what is pasted in marks. */
export const PASTE_ON = '\u001B[?2004h';
export const PASTE_OFF = '\u001B[?2004l';
const BEGIN = '\u001B[200~';
const END = '\u001B[201~';

/** Stands for a line break of a paste while the line is edited. */
const BREAK = '\u2424';

/** The text of a line that was edited, with the line breaks of its pastes. */
export function restoreBreaks(line: string): string {
  return line.replaceAll(BREAK, '\n');
}

/** How much of the end of `text` may be the beginning of `mark`. */
function countHeld(text: string, mark: string, least: number): number {
  for (let length = Math.min(text.length, mark.length - 1); length >= least; length -= 1) {
    if (text.endsWith(mark.slice(0, length))) return length;
  }
  return 0;
}

/** A pasted text as keys: no line break submits it, and no control character is a command. */
function toKeys(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll('\r', '\n')
    .replaceAll('\n', BREAK)
    .replaceAll(/[^\P{Cc}\t]/gu, '');
}

/** Takes what a terminal sends, and returns it with each paste as keys of one line. */
export function openPasteFilter(): { push(text: string): string } {
  let held = '';
  let isPasting = false;
  /** line breaks at the end of a paste so far: they belong to it only if more text follows */
  let breaks = '';
  /** a carriage return was the last character: a line feed behind it is the same break */
  let hasReturned = false;
  const takePasted = (text: string): string => {
    if (text === '') return '';
    const keys = breaks + toKeys(hasReturned && text.startsWith('\n') ? text.slice(1) : text);
    hasReturned = text.endsWith('\r');
    let kept = keys.length;
    while (keys.charAt(kept - 1) === BREAK) kept -= 1;
    breaks = keys.slice(kept);
    return keys.slice(0, kept);
  };
  return {
    push(text) {
      let rest = held + text;
      let keys = '';
      for (;;) {
        const mark = isPasting ? END : BEGIN;
        const at = rest.indexOf(mark);
        const until = at === -1 ? rest.length - countHeld(rest, mark, isPasting || rest.length > 1 ? 1 : 2) : at;
        const part = rest.slice(0, until);
        keys += isPasting ? takePasted(part) : part;
        if (at === -1) {
          held = rest.slice(until);
          return keys;
        }
        rest = rest.slice(at + mark.length);
        isPasting = !isPasting;
        breaks = '';
        hasReturned = false;
      }
    },
  };
}

/** The same as a stream. */
export function openPasteStream(): Transform {
  const decoder = new StringDecoder('utf8');
  const filter = openPasteFilter();
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const keys = filter.push(decoder.write(chunk));
      if (keys === '') done();
      else done(null, keys);
    },
  });
}
