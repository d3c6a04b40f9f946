import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCycles } from './cycles.ts';
import { countDuplicates } from './duplicates.ts';
import { listFiles } from './files.ts';
import { lintEverything } from './lint.ts';

/** median, 90th and 99th percentile, maximum */
export type Distribution = [number, number, number, number];

export type Measures = {
  files: number;
  lines: number;
  functions: number;
  distributions: Record<string, Distribution>;
  counts: Record<string, number | string>;
};

/** The nearest-rank percentiles of a list; zeros for an empty one. */
export function distribute(values: readonly number[]): Distribution {
  const sorted = values.toSorted((left, right) => left - right);
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return [at(0.5), at(0.9), at(0.99), at(1)];
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
}

/** Measures the TypeScript files below `folders` of the tree at `root`. Needs oxlint in this repository's node_modules. */
export function measure(root: string, folders: readonly string[]): Measures {
  const files = listFiles(root, folders);
  const sources = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]));
  const lineCounts = [...sources.values()].map((text) => text.trimEnd().split('\n').length);
  const lines = lineCounts.reduce((sum, count) => sum + count, 0);
  const found = lintEverything(root, folders);
  // oxlint does not report the parameters of a function without any.
  const parameters = [
    ...found.parameters,
    ...Array<number>(found.functionLines.length - found.parameters.length).fill(0),
  ];
  const cycles = findCycles(sources);
  const duplicated = countDuplicates([...sources.values()]);
  return {
    files: files.length,
    lines,
    functions: found.functionLines.length,
    distributions: {
      'lines per file': distribute(lineCounts),
      'lines per function': distribute(found.functionLines),
      parameters: distribute(parameters),
      complexity: distribute(found.complexities),
    },
    counts: {
      'files over 300 lines': lineCounts.filter((count) => count > 300).length,
      'functions over 100 lines': found.functionLines.filter((count) => count > 100).length,
      'functions with more than 4 parameters': parameters.filter((count) => count > 4).length,
      'functions with complexity over 15': found.complexities.filter((value) => value > 15).length,
      'functions with complexity over 20': found.complexities.filter((value) => value > 20).length,
      'import cycles, types included': cycles.length,
      'files in import cycles': cycles.reduce((sum, cycle) => sum + cycle.length, 0),
      'casts (`as const` aside)': found.casts,
      'casts per 1,000 lines': ((1000 * found.casts) / Math.max(1, lines)).toFixed(2),
      'duplicated lines (blocks of 5 and more)': duplicated,
      'duplicated lines, share': percent(duplicated, lines),
    },
  };
}
