import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findCycles } from '../../scripts/statistics/cycles.ts';
import { countDuplicates } from '../../scripts/statistics/duplicates.ts';
import { distribute, measure } from '../../scripts/statistics/measure.ts';
import { makeScratch } from '../support/scratch.ts';

let folder: string;
beforeAll(() => {
  folder = makeScratch('statistics');
});
afterAll(() => rmSync(folder, { recursive: true }));

test('percentiles are values of the list', () => {
  expect(distribute([3, 1, 2, 10])).toEqual([2, 10, 10, 10]);
  expect(distribute([])).toEqual([0, 0, 0, 0]);
});

describe('import cycles', () => {
  test('are found through types and through other files', () => {
    const sources = new Map([
      ['a.ts', "import type { B } from './b.ts';"],
      ['b.ts', "import {\n  c,\n} from './folder/c.ts';"],
      ['folder/c.ts', "export { a } from '../a.ts';"],
      ['d.ts', "import './a.ts';"],
    ]);
    expect(findCycles(sources).map((cycle) => cycle.toSorted())).toEqual([['a.ts', 'b.ts', 'folder/c.ts']]);
  });

  test('are none if files only share imports', () => {
    const sources = new Map([
      ['a.ts', "import { c } from './c.ts';\nimport { b } from './b.ts';"],
      ['b.ts', "import { c } from './c.ts';"],
      ['c.ts', ''],
    ]);
    expect(findCycles(sources)).toEqual([]);
  });
});

test('duplicated lines are counted where they stand, indented or not', () => {
  const block = Array.from({ length: 6 }, (_, line) => `const description${line} = compute(input, ${line});`);
  expect(countDuplicates([block.join('\n'), block.map((line) => `  ${line}`).join('\n')])).toBe(12);
  expect(countDuplicates([block.join('\n'), block.slice(0, 4).join('\n')])).toBe(0);
});

test('a tree is measured by folder, without generated files', () => {
  const files = {
    'src/a.ts': 'export const a = (x: unknown) => (x ? (x as string) : [1] as const);\n',
    'src/generated/b.ts': 'export const b = (x: unknown) => x as string;\n',
    'test/c.ts': 'export function c(): void {\n  // nothing\n}\n',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const sources = measure(folder, ['src', 'missing']);
  expect(sources).toMatchObject({ files: 1, lines: 1, functions: 1 });
  expect(sources.distributions['complexity']).toEqual([2, 2, 2, 2]);
  expect(sources.distributions['parameters']).toEqual([1, 1, 1, 1]);
  expect(sources.counts['casts (`as const` aside)']).toBe(1);
  const tests = measure(folder, ['test']);
  expect(tests.distributions['lines per function']).toEqual([3, 3, 3, 3]);
  expect(tests.distributions['parameters']).toEqual([0, 0, 0, 0]);
});
