import { expect, it } from 'vitest';
import { openPasteFilter, restoreBreaks } from '../../src/cli/chat/paste.ts';

const PASTED = '\u001B[200~Please review this:\rline one\r\nline two\n\n\u001B[201~';

// A lone escape is a key, so a mark that is split right after it is not recognized: no pieces of one byte.
it.each([2, 3, 5, 1000])('makes one line of a paste that comes in pieces of %i bytes', (size) => {
  const filter = openPasteFilter();
  const sent = `say ${PASTED} now\r`;
  let keys = '';
  for (let at = 0; at < sent.length; at += size) keys += filter.push(sent.slice(at, at + size));
  expect(restoreBreaks(keys)).toBe('say Please review this:\nline one\nline two now\r');
});

it('takes no command out of a paste', () => {
  const filter = openPasteFilter();
  expect(filter.push('\u001B[200~a\u0003\u001B[Ab\u0004\tc\u001B[201~')).toBe('a[Ab\tc');
});

it('passes keys on, also an escape alone', () => {
  const filter = openPasteFilter();
  expect(filter.push('\u001B')).toBe('\u001B');
  expect(filter.push('a\u001B[A\r')).toBe('a\u001B[A\r');
});
