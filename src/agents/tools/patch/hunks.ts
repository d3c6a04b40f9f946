import { replaceText } from './replace.ts';
import type { Hunk } from './v4a.ts';

const BEFORE_HINT = 500;
const AFTER_HINT = 2000;

/** The text with all hunks applied in order, or what is wrong with the first that fails. */
export function applyHunks(text: string, hunks: Hunk[]): { text: string } | { error: string } {
  let result = text;
  for (const [index, hunk] of hunks.entries()) {
    const applied = applyHunk(result, hunk);
    if ('error' in applied) return { error: `hunk ${index + 1}: ${applied.error}` };
    result = applied.text;
  }
  return { text: result };
}

function applyHunk(text: string, hunk: Hunk): { text: string } | { error: string } {
  const old = hunk.lines.filter(({ kind }) => kind !== '+').map((line) => line.text);
  const next = hunk.lines.filter(({ kind }) => kind !== '-').map((line) => line.text);
  if (old.every((line) => line.trim() === '')) return insert(text, hunk, next);
  // lines that go away take their newline along
  const end = next.length === 0 ? '\n' : '';
  const whole = replaceText(text, old.join('\n') + end, next.join('\n'), false);
  if (whole.ok) return { text: whole.text };
  if (hunk.hint !== '') {
    const at = text.indexOf(hunk.hint);
    if (at !== -1) {
      const from = lineStart(text, Math.max(0, at - BEFORE_HINT));
      const to = Math.min(text.length, at + AFTER_HINT);
      const near = replaceText(text.slice(from, to), old.join('\n') + end, next.join('\n'), false);
      if (near.ok && near.count > 0) return { text: text.slice(0, from) + near.text + text.slice(to) };
    }
  }
  if (end !== '' && whole.reason === 'miss') {
    const last = replaceText(text, old.join('\n'), '', false);
    if (last.ok) return { text: last.text };
  }
  return { error: whole.error };
}

/** A hunk that only adds goes below its hint, or to the end of the file. */
function insert(text: string, hunk: Hunk, next: string[]): { text: string } | { error: string } {
  const block = `${next.join('\n')}\n`;
  if (hunk.hint === '') return { text: text === '' || text.endsWith('\n') ? text + block : `${text}\n${block}` };
  const at = text.indexOf(hunk.hint);
  if (at === -1) return { error: `the hint ${JSON.stringify(hunk.hint.slice(0, 80))} is not in the file` };
  if (text.includes(hunk.hint, at + 1)) {
    return { error: `the hint ${JSON.stringify(hunk.hint.slice(0, 80))} is in the file more than once` };
  }
  const end = text.indexOf('\n', at);
  return end === -1 ? { text: `${text}\n${block}` } : { text: text.slice(0, end + 1) + block + text.slice(end + 1) };
}

function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf('\n', at - 1) + 1;
}
