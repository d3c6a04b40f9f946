import { fc } from '../../support/property.ts';
import { describe, expect, test } from 'vitest';
import { applyHunks } from '../../../src/agents/tools/patch/hunks.ts';
import { parseV4a } from '../../../src/agents/tools/patch/v4a.ts';
import type { Hunk } from '../../../src/agents/tools/patch/v4a.ts';

describe('reading a V4A patch', () => {
  test('all operations, with or without the frame', () => {
    const body =
      '*** Update File: a.ts\n*** Move to: c.ts\n@@ function f @@\n x\n-y\n+z\n*** Add File: b\n+1\n+2\n*** Delete File: d\n*** Move File: e -> f';
    const framed = parseV4a(`*** Begin Patch\n${body}\n*** End Patch\n`);
    expect(framed).toEqual(parseV4a(body));
    expect(framed).toEqual({
      operations: [
        {
          kind: 'update',
          path: 'a.ts',
          moveTo: 'c.ts',
          hunks: [
            {
              hint: 'function f',
              lines: [
                { kind: ' ', text: 'x' },
                { kind: '-', text: 'y' },
                { kind: '+', text: 'z' },
              ],
            },
          ],
        },
        { kind: 'add', path: 'b', content: '1\n2\n' },
        { kind: 'delete', path: 'd' },
        { kind: 'move', from: 'e', to: 'f' },
      ],
    });
  });

  test.each([
    '',
    'hello',
    '*** Update File: ../x\n-a\n+b',
    '*** Update File: a',
    '*** Move File: a',
    '*** Update File:\n-a',
  ])('%j is an error', (text) => {
    expect(parseV4a(text)).toHaveProperty('error');
  });

  test('no text makes the reader throw', () => {
    const part = fc.constantFrom(
      '*** Update File: a',
      '*** Add File: b',
      '@@ x',
      '+a',
      '-b',
      ' c',
      '',
      '*** End Patch',
      '*** Move File: a -> b',
      'zzz',
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const parsed = parseV4a(parts.join('\n'));
        expect('error' in parsed || parsed.operations.length > 0).toBe(true);
      }),
    );
  });
});

describe('applying hunks', () => {
  test('a change with its whole file as context gives the new file', () => {
    const words = fc.uniqueArray(fc.stringMatching(/^[a-z]{6,10}$/), { minLength: 3, maxLength: 10 });
    fc.assert(
      fc.property(words, fc.nat(), fc.constantFrom('change', 'remove', 'insert'), (lines, at, what) => {
        const index = at % lines.length;
        const hunk = lines.flatMap((text, i): Hunk['lines'] => {
          if (i !== index) return [{ kind: ' ' as const, text }];
          if (what === 'insert')
            return [
              { kind: ' ' as const, text },
              { kind: '+' as const, text: 'ADDED' },
            ];
          return [
            { kind: '-' as const, text },
            ...(what === 'change' ? [{ kind: '+' as const, text: 'CHANGED' }] : []),
          ];
        });
        const expected = lines.flatMap((text, i) => {
          if (i !== index) return [text];
          return what === 'insert' ? [text, 'ADDED'] : what === 'change' ? ['CHANGED'] : [];
        });
        expect(applyHunks(`${lines.join('\n')}\n`, [{ hint: '', lines: hunk }])).toEqual({
          text: `${expected.join('\n')}\n`,
        });
      }),
    );
  });

  test('a hint picks one of two like places', () => {
    const text = `def a():\n    return 1\n${'# filler\n'.repeat(80)}def b():\n    return 1\n`;
    const result = applyHunks(text, [
      {
        hint: 'def b',
        lines: [
          { kind: '-', text: '    return 1' },
          { kind: '+', text: '    return 2' },
        ],
      },
    ]);
    expect(result).toEqual({ text: text.replace(/return 1\n$/, 'return 2\n') });
  });

  test('lines that are only removed leave no empty line', () => {
    expect(applyHunks('a\nb\nc\n', [{ hint: '', lines: [{ kind: '-', text: 'b' }] }])).toEqual({ text: 'a\nc\n' });
  });
});
