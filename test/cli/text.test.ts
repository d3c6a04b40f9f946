import { expect, test } from 'vitest';
import { buildDetail, buildFullDetail } from '../../src/cli/chat/pending-actions.ts';
import { cleanText } from '../../src/cli/text.ts';

test.each([
  ['control characters are left out', 'a\u001B[2Jb\u0000\r\nc\td', 'a[2Jb\nc\td'],
  [
    'bidirectional overrides are escapes',
    'rm \u202Etxt.exe\u202C \u2066x\u2069',
    'rm \\u{202e}txt.exe\\u{202c} \\u{2066}x\\u{2069}',
  ],
  ['zero-width characters are escapes', 'a\u200Bb\u200Dc\uFEFFd\u00ADe', 'a\\u{200b}b\\u{200d}c\\u{feff}d\\u{ad}e'],
  ['tags are escapes', 'x\u{E0041}', 'x\\u{e0041}'],
  ['line separators are escapes', 'a\u2028b', 'a\\u{2028}b'],
  ['joined pictures stay', '👩‍💻 👨‍👩‍👧 🧑🏽‍🚀', '👩‍💻 👨‍👩‍👧 🧑🏽‍🚀'],
  ['a joiner after a picture alone is an escape', '👩\u200Dx', '👩\\u{200d}x'],
])('%s', (_, text, shown) => {
  expect(cleanText(text)).toBe(shown);
});

test('an approval is cut at first, and can be shown whole', () => {
  const script = Array.from({ length: 40 }, (_, line) => `echo ${line}`).join('\n');
  expect(buildDetail({ command: 'ls' })).toMatchObject({ isCut: false });
  expect(buildDetail({ command: script })).toMatchObject({ isCut: true });
  expect(buildDetail({ command: 'x'.repeat(161) })).toMatchObject({ isCut: true });
  expect(buildFullDetail({ command: script })).toContain('echo 39');
  expect(buildFullDetail({ command: 'x'.repeat(5000) })).toContain('x'.repeat(5000));
});
