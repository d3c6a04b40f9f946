import { fc } from '../../support/property.ts';
import { describe, expect, test } from 'vitest';
import { replaceText } from '../../../src/agents/tools/patch/replace.ts';
import { similarity } from '../../../src/agents/tools/patch/similarity.ts';

const find = (text: string, old: string, next = 'NEW', all = false) => replaceText(text, old, next, all);

describe('finding a place to replace', () => {
  test.for<[string, string, string, string, string]>([
    ['exact', 'a\nb\nc\n', 'b', 'B', 'a\nB\nc\n'],
    ['line_trimmed', 'if x:\n    one  \n    two\n', 'one\n  two', 'ONE\nTWO', 'if x:\n    ONE\n    TWO\n'],
    ['whitespace_normalized', 'let  a\t=  1;\n', 'let a = 1;', 'let a = 2;', 'let a = 2;\n'],
    ['escape_normalized', 'one\ntwo\n', 'one\\ntwo', 'one\\n2', 'one\n2\n'],
    [
      'unicode_normalized',
      'say “hello” — now…\n',
      'say "hello" - now...',
      'say "hello" - later...',
      'say “hello” — later…\n',
    ],
    [
      'block_anchor',
      'begin {\n  alpha = 1\n  beta = 2\n}\nend',
      'begin {\n  alpha = 10\n  beta = 22\n}',
      'X',
      'X\nend',
    ],
    [
      'context_aware',
      'first line here\nsecond line here\nother',
      'first line herr\nsecond line herre',
      'X',
      'X\nother',
    ],
  ])('%s', ([strategy, text, old, next, expected]) => {
    expect(find(text, old, next)).toMatchObject({ ok: true, strategy, text: expected });
  });

  test('a re-indented block gets the indentation of the file', () => {
    const text = 'class A:\n        def f(self):\n            return 1\n';
    const result = find(text, 'def f(self):\n    return 1', 'def f(self):\n    x = 2\n    return x');
    expect(result).toMatchObject({ text: 'class A:\n        def f(self):\n            x = 2\n            return x\n' });
  });

  test('several places are an error that lists them, unless all are meant', () => {
    expect(find('x = 1\ny\nx = 1\n', 'x = 1')).toMatchObject({
      ok: false,
      reason: 'ambiguous',
      error: expect.stringContaining('L1: x = 1; L3: x = 1') as string,
    });
    expect(find('x = 1\ny\nx = 1\n', 'x = 1', 'z', true)).toMatchObject({ text: 'z\ny\nz\n', count: 2 });
  });

  test('replacing all never goes by likeness', () => {
    expect(find('begin {\n  alpha = 1\n}\n', 'begin {\n  alpha = 10\n}', 'X', true)).toMatchObject({
      ok: false,
      reason: 'refused',
    });
  });

  test.each([
    ['', 'x'],
    ['  \n', 'x'],
    ['same', 'same'],
  ])('old %j and new %j are refused', (old, next) => {
    expect(find('same text', old, next)).toMatchObject({ ok: false, reason: 'refused' });
  });

  test('an existing change is not an error', () => {
    expect(find('return value;\n', 'return old_value_x;', 'return value;')).toMatchObject({ ok: true });
    expect(find('alpha beta gamma\n', 'zzz qqq', 'alpha beta gamma')).toMatchObject({ ok: true, count: 0 });
  });

  test('escapes that only the texts have are refused', () => {
    expect(find("  it = 'a'  \n", "it = \\'a\\'\n", "it = \\'b\\'\n")).toMatchObject({ ok: false });
    expect(find("  print('a')\nx y z\n", "print(\\'a\\')\nx y z", "print(\\'b\\')\nx y z")).toMatchObject({
      ok: false,
      error: expect.stringContaining('Escape drift') as string,
    });
  });
});

describe('for any text', () => {
  const line = fc.stringMatching(/^[ \ta-d“'…(){}=]{0,12}$/);
  const lines = fc.array(line, { minLength: 1, maxLength: 12 });

  test('a unique exact place is replaced and nothing else is touched', () => {
    fc.assert(
      fc.property(lines, lines, fc.string(), (before, after, next) => {
        const old = 'UNIQUE⁂MARK';
        const [head, tail] = [before.join('\n'), after.join('\n')];
        expect(find(`${head}${old}${tail}`, old, next)).toMatchObject({ ok: true, text: head + next + tail });
      }),
    );
  });

  test('whatever the strategy, what lies outside the found places stays to the letter', () => {
    fc.assert(
      fc.property(lines, fc.nat(), fc.nat(), fc.boolean(), (all, a, b, indent) => {
        const from = a % all.length;
        const to = from + 1 + (b % (all.length - from));
        const old = all
          .slice(from, to)
          .map((item) => (indent ? `  ${item.trim()}` : item))
          .join('\n');
        const text = all.join('\n');
        const result = find(text, old, 'NEW');
        if (!result.ok) return;
        const range = result.ranges[0];
        if (range === undefined) return;
        expect(result.text.startsWith(text.slice(0, range.start))).toBe(true);
        expect(result.text.endsWith(text.slice(range.end))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test('ranges are in order and do not overlap', () => {
    fc.assert(
      fc.property(lines, line, (all, old) => {
        const result = find(all.join('\n'), old, 'N', true);
        if (!result.ok) return;
        for (const [index, range] of result.ranges.entries()) {
          expect(range.start).toBeLessThan(range.end);
          expect(range.start).toBeGreaterThanOrEqual(result.ranges[index - 1]?.end ?? 0);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('similarity is 1 for equal texts, below 1 for others, and its bound is never too low', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const ratio = similarity(a, b);
        expect(ratio).toBeGreaterThanOrEqual(0);
        expect(ratio === 1).toBe(a === b);
        expect(similarity(a, b, 0.8) >= 0.8).toBe(ratio >= 0.8);
      }),
    );
  });
});
