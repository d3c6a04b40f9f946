import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { measure } from './statistics/measure.ts';
import type { Measures } from './statistics/measure.ts';

/**
 * Prints size and complexity of the code: `node scripts/code-statistics.ts [REVISION]`. Without a revision it measures
 * the working tree. Every function counts, including callbacks. Generated files do not.
 */
const ROOT = fileURLToPath(new URL('../', import.meta.url));

const GROUPS: Record<string, string[]> = {
  sources: ['src', 'operator', 'sandbox-image', 'clients'],
  tests: ['test'],
  tools: ['bench', 'scripts'],
};

function print(group: string, measures: Measures): void {
  console.log(`\n${group}: ${measures.files} files, ${measures.lines} lines, ${measures.functions} functions`);
  console.log(`${''.padEnd(24)}${['median', 'p90', 'p99', 'max'].map((name) => name.padStart(8)).join('')}`);
  for (const [name, values] of Object.entries(measures.distributions)) {
    console.log(`${name.padEnd(24)}${values.map((value) => String(value).padStart(8)).join('')}`);
  }
  for (const [name, value] of Object.entries(measures.counts))
    console.log(`${name.padEnd(48)}${String(value).padStart(8)}`);
}

function main(revision: string | undefined): void {
  const folder = revision === undefined ? ROOT : mkdtempSync(join(tmpdir(), 'capstan-statistics-'));
  try {
    if (revision !== undefined) {
      const archive = execFileSync('git', ['archive', '--format=tar', revision], { cwd: ROOT, maxBuffer: 2 ** 30 });
      execFileSync('tar', ['-x', '-C', folder], { input: archive });
    }
    console.log(`Statistics of ${revision ?? 'the working tree'}`);
    for (const [group, folders] of Object.entries(GROUPS)) print(group, measure(folder, folders));
  } finally {
    if (revision !== undefined) rmSync(folder, { recursive: true });
  }
}

main(process.argv[2]);
