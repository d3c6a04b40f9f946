import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const OXLINT = fileURLToPath(new URL('../../node_modules/oxlint/bin/oxlint', import.meta.url));

/** Limits so low that oxlint reports every function with its value. */
const CONFIG = {
  plugins: ['typescript'],
  categories: { correctness: 'off' },
  rules: {
    complexity: ['error', { max: 0 }],
    'max-params': ['error', { max: 0 }],
    'max-lines-per-function': ['error', { max: 0 }],
    'typescript/consistent-type-assertions': ['error', { assertionStyle: 'never' }],
  },
};

const Report = z.object({ diagnostics: z.array(z.object({ code: z.string(), message: z.string() })) });

/** One number per function, in no order; functions without parameters are missing in `parameters`. */
export type LintValues = { functionLines: number[]; parameters: number[]; complexities: number[]; casts: number };

/** oxlint's report on the files below `folders`. Throws oxlint's output if it is not a report. */
export function lintEverything(root: string, folders: readonly string[]): LintValues {
  const scratch = mkdtempSync(join(tmpdir(), 'capstan-lint-'));
  try {
    const config = join(scratch, 'oxlintrc.json');
    writeFileSync(config, JSON.stringify(CONFIG));
    const present = folders.filter((folder) => existsSync(join(root, folder)));
    const args = [OXLINT, '-c', config, '--ignore-pattern', '**/generated/**', '--format', 'json', ...present];
    const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 30 });
    if (!stdout.startsWith('{')) throw new Error(`oxlint gave no report: ${stdout}${stderr}`);
    const { diagnostics } = Report.parse(JSON.parse(stdout));
    const valuesOf = (rule: string, pattern: RegExp): number[] =>
      diagnostics
        .filter(({ code }) => code === `eslint(${rule})`)
        .map(({ message }) => Number(pattern.exec(message)?.[1]));
    return {
      functionLines: valuesOf('max-lines-per-function', /too many lines \((\d+)\)/),
      parameters: valuesOf('max-params', /too many parameters \((\d+)\)/),
      complexities: valuesOf('complexity', /complexity of (\d+)/),
      casts: diagnostics.filter(({ code }) => code === 'typescript(consistent-type-assertions)').length,
    };
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
