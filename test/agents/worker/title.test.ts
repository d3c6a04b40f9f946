import { expect, it } from 'vitest';
import { cleanTitle } from '../../../src/agents/worker/title.ts';

it.each([
  ['A walk in the park', 'A walk in the park'],
  ['"A walk in the park"', 'A walk in the park'],
  ['# **A walk** in the park**', 'A walk** in the park'],
  ['\n\n  A walk\nand more', 'A walk'],
  ["It's Anna's", "It's Anna's"],
  ['', ''],
  [' \n"" ', ''],
])('reads %j as %j', (text, title) => {
  expect(cleanTitle(text)).toBe(title);
});

it('truncates long text, but never within a character', () => {
  expect(cleanTitle('x'.repeat(200))).toHaveLength(80);
  expect(cleanTitle(`${'x'.repeat(79)}😀`).isWellFormed()).toBe(true);
});
