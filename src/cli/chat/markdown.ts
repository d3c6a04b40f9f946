// Tests: test/cli/markdown.test.ts
import { paint } from '../text.ts';

/** Paints Markdown while it comes: what is not clear yet is held back until more has come. */
export type MarkdownPainter = {
  push(text: string): string;
  /** The text is over: what is held back. */
  end(): string;
};

/** The beginning of a line that says what the line is. */
const FENCE = /^ {0,3}(```|~~~)/;
const HEADING = /^ {0,3}(#{1,6}) +/;
const BULLET = /^( *)[-*+] +/;
const NUMBER = /^( *\d{1,9}[.)]) +/;
const QUOTE = /^ {0,3}> ?/;
const RULE = /^ {0,3}(?:-{3,}|\*{3,}|_{3,}) *$/;
/** What a line may begin with that has to be seen whole. */
const UNDECIDED = /^ *(?:[#>`~*_+|-]|\d)/;
/** Characters of a line within which its kind is clear. */
const DECIDED_AT = 12;
/** A mark that is not closed within so many characters is none. */
const MAX_SPAN = 500;

type Style = Parameters<typeof paint>[0];

/** The marks inside a line, longest first. */
type Span = { open: string; close: string; style: Style };

const SPANS: readonly Span[] = [
  { open: '**', close: '**', style: 'bold' },
  { open: '__', close: '__', style: 'bold' },
  { open: '~~', close: '~~', style: 'strikethrough' },
  { open: '`', close: '`', style: 'cyan' },
  { open: '*', close: '*', style: 'italic' },
];

/** A piece at the beginning of `text`, and how long it is; undefined where more has to come. */
type Piece = { painted: string; length: number } | undefined;

/** Plain text up to the next character that may be a mark. */
function readPlain(text: string): NonNullable<Piece> {
  const at = text.slice(1).search(/[*_~`[]/);
  const plain = at === -1 ? text : text.slice(0, at + 1);
  return { painted: plain, length: plain.length };
}

/** `[text](address)` as text and address. */
function readLink(text: string, isWhole: boolean): Piece {
  const end = text.indexOf(')');
  if (end === -1 && !isWhole && text.length < MAX_SPAN) return undefined;
  const [all, label = '', address = ''] = /^\[([^\][]{1,300})\]\(([^()\s]{1,400})\)/.exec(text) ?? [];
  if (all === undefined) return readPlain(text);
  const shown = label === address ? '' : `${label} `;
  return { painted: `${shown}${paint(['dim', 'underline'], address)}`, length: all.length };
}

/** A span that begins here. Marks between word characters, as in `snake_case`, and before spaces are none. */
function readSpan(text: string, before: string, isWhole: boolean): Piece {
  if (text.startsWith('[')) return readLink(text, isWhole);
  const span = SPANS.find(({ open }) => text.startsWith(open));
  if (span === undefined) {
    // `_` alone; a second character decides
    return text.length === 1 && !isWhole ? undefined : readPlain(text);
  }
  if (text.length <= span.open.length && !isWhole) return undefined;
  return opensSpan(text, span, before) ? closeSpan(text, span, isWhole) : readPlain(text);
}

function opensSpan(text: string, { open }: Span, before: string): boolean {
  const first = text.charAt(open.length);
  return open === '`' || (!/\w$/.test(before) && first.trim() !== '' && first !== open.charAt(0));
}

function closeSpan(text: string, { open, close, style }: Span, isWhole: boolean): Piece {
  const end = text.indexOf(close, open.length + 1);
  if (end === -1) return isWhole || text.length >= MAX_SPAN ? readPlain(text) : undefined;
  return { painted: paint(style, text.slice(open.length, end)), length: end + close.length };
}

class Painter implements MarkdownPainter {
  /** what has come and is not painted yet */
  #held = '';
  #fence = '';
  #isHeading = false;
  /** what stands before in the line; empty at its beginning */
  #before = '';

  push(text: string): string {
    this.#held += text;
    return this.#paint(false);
  }

  end(): string {
    const painted = this.#paint(true);
    this.#held = '';
    this.#fence = '';
    this.#before = '';
    return painted;
  }

  #paint(isOver: boolean): string {
    let painted = '';
    while (this.#held !== '') {
      const newline = this.#held.indexOf('\n');
      const isWhole = isOver || newline !== -1;
      const line = newline === -1 ? this.#held : this.#held.slice(0, newline);
      const piece = this.#before === '' ? this.#beginLine(line, isWhole) : this.#goOn(line, isWhole);
      if (piece === undefined) return painted;
      painted += piece.painted;
      this.#held = this.#held.slice(piece.length);
      if (piece.length < line.length || newline === -1) continue;
      painted += '\n';
      this.#held = this.#held.slice(1);
      this.#before = '';
      this.#isHeading = false;
    }
    return painted;
  }

  /** The mark at the beginning of a line. */
  #beginLine(line: string, isWhole: boolean): Piece {
    if (!isWhole && this.#isUndecided(line)) return undefined;
    if (line === '') return { painted: '', length: 0 };
    if (this.#takeFence(line)) return { painted: paint('dim', line), length: line.length };
    if (this.#fence !== '') return this.#goOn(line, isWhole);
    if (RULE.test(line)) {
      this.#before = line;
      return { painted: paint('dim', '─'.repeat(20)), length: line.length };
    }
    return this.#readMark(line) ?? this.#goOn(line, isWhole);
  }

  /** Whether more characters may make something else of the line. */
  #isUndecided(line: string): boolean {
    if (/^ {0,3}[`~]{0,2}$/.test(line) || FENCE.test(line)) return true;
    return this.#fence === '' && UNDECIDED.test(line) && line.length < DECIDED_AT;
  }

  /** Opens or closes a block of code. */
  #takeFence(line: string): boolean {
    const [, fence] = FENCE.exec(line) ?? [];
    if (fence === undefined || !(this.#fence === '' || fence.startsWith(this.#fence))) return false;
    this.#fence = this.#fence === '' ? fence : '';
    this.#before = line;
    return true;
  }

  #readMark(line: string): Piece {
    const take = (mark: string, painted: string): Piece => {
      this.#before = ' ';
      return { painted, length: mark.length };
    };
    const [heading] = HEADING.exec(line) ?? [];
    if (heading !== undefined) {
      this.#isHeading = true;
      return take(heading, '');
    }
    const [bullet, indent] = BULLET.exec(line) ?? [];
    if (bullet !== undefined) return take(bullet, `${indent}${paint('cyan', '•')} `);
    const [number, label] = NUMBER.exec(line) ?? [];
    if (number !== undefined) return take(number, `${paint('cyan', label ?? '')} `);
    const [quote] = QUOTE.exec(line) ?? [];
    return quote === undefined ? undefined : take(quote, paint('dim', '│ '));
  }

  /** What follows in a line. */
  #goOn(line: string, isWhole: boolean): Piece {
    if (line === '') return { painted: '', length: 0 };
    if (this.#fence !== '') {
      this.#before = line;
      return { painted: paint('yellow', line), length: line.length };
    }
    const piece = /^[*_~`[]/.test(line) ? readSpan(line, this.#before, isWhole) : readPlain(line);
    if (piece === undefined) return undefined;
    this.#before = line.slice(0, piece.length);
    return this.#isHeading ? { ...piece, painted: paint('bold', piece.painted) } : piece;
  }
}

export function openMarkdownPainter(): MarkdownPainter {
  return new Painter();
}
