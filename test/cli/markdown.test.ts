import { expect, it } from 'vitest';
import { openMarkdownPainter } from '../../src/cli/chat/markdown.ts';

const TEXT = [
  '# A *title*',
  '',
  'Some **bold**, *slanted*, ~~gone~~ and `coded` words, a snake_case_name, 2 * 3 * 4, and a [link](https://a.example/b).',
  '- one',
  '  * two',
  '12. three',
  '> quoted',
  '---',
  '```js',
  'const a = **not bold**;',
  '# no heading',
  '```',
  'An **open mark',
  'and the end: `x',
].join('\n');

/** Without styles, because tests have no terminal. */
const PAINTED = [
  'A title',
  '',
  'Some bold, slanted, gone and coded words, a snake_case_name, 2 * 3 * 4, and a link https://a.example/b.',
  '• one',
  '  • two',
  '12. three',
  '│ quoted',
  '─'.repeat(20),
  '```js',
  'const a = **not bold**;',
  '# no heading',
  '```',
  'An **open mark',
  'and the end: `x',
].join('\n');

it.each([1, 2, 3, 7, 1000])('paints Markdown that comes in pieces of %i characters', (size) => {
  const painter = openMarkdownPainter();
  let painted = '';
  for (let at = 0; at < TEXT.length; at += size) painted += painter.push(TEXT.slice(at, at + size));
  expect(painted + painter.end()).toBe(PAINTED);
});

it('holds back no more of a line than a mark may span', () => {
  const painter = openMarkdownPainter();
  const text = `**${'a'.repeat(2000)}`;
  expect(painter.push(text)).toBe(text);
});

it('prints words as they come', () => {
  const painter = openMarkdownPainter();
  expect(['Hel', 'lo ', 'the', 're'].map((piece) => painter.push(piece))).toEqual(['Hel', 'lo ', 'the', 're']);
});
