export type Span = { text: string; classes: string };

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];
const ESCAPE = '\u001B';
/** Maximum number of spans per text. The remaining text keeps the style of the last span. */
const MAX_SPANS = 2000;

type State = { bold: boolean; dim: boolean; italic: boolean; underline: boolean; colour: string };
const PLAIN: State = { bold: false, dim: false, italic: false, underline: false, colour: '' };

function applyCode(state: State, code: number): State {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...state, bold: true };
  if (code === 2) return { ...state, dim: true };
  if (code === 3) return { ...state, italic: true };
  if (code === 4) return { ...state, underline: true };
  if (code === 22) return { ...state, bold: false, dim: false };
  if (code === 39) return { ...state, colour: '' };
  if (code >= 30 && code <= 37) return { ...state, colour: COLOURS[code - 30] ?? '' };
  if (code >= 90 && code <= 97) return { ...state, colour: COLOURS[code - 90] ?? '' };
  return state;
}

function toClasses({ bold, dim, italic, underline, colour }: State): string {
  return [bold && 'a-bold', dim && 'a-dim', italic && 'a-italic', underline && 'a-underline', colour && `a-${colour}`]
    .filter((name) => name !== false && name !== '')
    .join(' ');
}

/** The end of the escape sequence that begins at `start`, and its final character. */
function readSequence(text: string, start: number): { end: number; final: string; body: string } {
  const kind = text[start + 1];
  if (kind === '[') {
    let end = start + 2;
    while (end < text.length && /[0-9;:?<=>! "#$%&'()*+,\-./]/.test(text[end] ?? '')) end += 1;
    return { end: end + 1, final: text[end] ?? '', body: text.slice(start + 2, end) };
  }
  if (kind === ']' || kind === 'P' || kind === '_' || kind === '^') {
    let end = start + 2;
    while (end < text.length && text[end] !== '\u0007' && text[end] !== ESCAPE && text[end] !== '\n') end += 1;
    return { end: text[end] === ESCAPE ? end + 2 : end + 1, final: '', body: '' };
  }
  return { end: start + 2, final: '', body: '' };
}

/** A carriage return overwrites the line, as progress bars do. */
function overwriteLines(text: string): string {
  if (!text.includes('\r')) return text;
  return text
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => line.slice(line.lastIndexOf('\r', line.length - 2) + 1).replaceAll('\r', ''))
    .join('\n');
}

/** Terminal output as spans with classes. Colours and weights are kept; all other control sequences are dropped. */
export function parseAnsi(input: string): Span[] {
  const text = overwriteLines(input);
  const spans: Span[] = [];
  let state = PLAIN;
  let position = 0;
  const push = (piece: string) => {
    if (piece === '') return;
    const classes = toClasses(state);
    const last = spans.at(-1);
    if (last !== undefined && (last.classes === classes || spans.length >= MAX_SPANS)) last.text += piece;
    else spans.push({ text: piece, classes });
  };
  while (position < text.length) {
    const escape = text.indexOf(ESCAPE, position);
    if (escape === -1) {
      push(text.slice(position));
      break;
    }
    push(text.slice(position, escape));
    const { end, final, body } = readSequence(text, escape);
    if (final === 'm') {
      const codes = body === '' ? [0] : body.split(/[;:]/).map(Number);
      const [first] = codes;
      // Colours of the extended palettes are dropped with their arguments.
      if (first !== 38 && first !== 48) for (const code of codes) state = applyCode(state, code);
    }
    position = end;
  }
  return spans;
}
