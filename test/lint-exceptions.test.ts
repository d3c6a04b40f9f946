import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { z } from 'zod';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** Rules whose exceptions are files by name. The lists of files may only shrink. */
const RATCHET = ['no-shadow', 'import/no-cycle', 'max-params', 'complexity', 'max-lines-per-function'] as const;

const Rule = z.union([z.string(), z.tuple([z.string(), z.object({ max: z.number().optional() })])]);
const Config = z.object({
  plugins: z.array(z.string()),
  rules: z.record(z.string(), Rule),
  overrides: z.array(z.object({ files: z.array(z.string()), rules: z.record(z.string(), Rule) })),
  ignorePatterns: z.array(z.string()),
});
const Report = z.object({
  diagnostics: z.array(z.object({ code: z.string(), filename: z.string(), message: z.string() })),
});

const config = Config.parse(JSON.parse(readFileSync(join(ROOT, '.oxlintrc.json'), 'utf8')));

type Exception = { file: string; rule: string; limit: number };

/** Every exception by file and rule. `limit` is the higher limit of the exception; 0: the rule is off. */
const exceptions: Exception[] = config.overrides.flatMap(({ files, rules }) =>
  Object.entries(rules)
    .filter(([rule]) => RATCHET.some((name) => name === rule))
    .flatMap(([rule, setting]) => {
      const limit = typeof setting === 'string' ? 0 : (setting[1].max ?? 0);
      return files.map((file) => ({ file, rule, limit }));
    }),
);
const named = exceptions.filter(({ file }) => !file.includes('*'));

/** The violations of each file without any exception: rule → highest value, by file. */
async function lintWithoutExceptions(): Promise<Map<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'capstan-lint-'));
  try {
    const { plugins, ignorePatterns } = config;
    const rules = Object.fromEntries(RATCHET.map((name) => [name, config.rules[name]]));
    const path = join(folder, 'oxlintrc.json');
    writeFileSync(path, JSON.stringify({ plugins, ignorePatterns, categories: { correctness: 'off' }, rules }));
    const stdout = await new Promise<string>((resolve) => {
      const files = [...new Set(named.map(({ file }) => file))];
      const args = ['node_modules/oxlint/bin/oxlint', '-c', path, '--format', 'json', ...files];
      execFile(process.execPath, args, { cwd: ROOT, maxBuffer: 2 ** 26 }, (_error, out) => resolve(out));
    });
    const found = new Map<string, number>();
    for (const { code, filename, message } of Report.parse(JSON.parse(stdout)).diagnostics) {
      const rule = code.replace(/^eslint\((.*)\)$/, '$1').replace(/^import\((.*)\)$/, 'import/$1');
      const value = Number(/complexity of (\d+)/.exec(message)?.[1] ?? 1);
      const key = `${filename} ${rule}`;
      found.set(key, Math.max(found.get(key) ?? 0, value));
    }
    return found;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('only tests have an exception by pattern: a describe block is no long function', () => {
  const patterns = exceptions.filter(({ file }) => file.includes('*'));
  expect(patterns).toEqual([{ file: 'test/**/*.test.ts', rule: 'max-lines-per-function', limit: 0 }]);
});

test('every exception in .oxlintrc.json is still needed', async () => {
  const found = await lintWithoutExceptions();
  // A limit of 20 is unneeded if the general limit suffices; a disabled rule is unneeded if 20 suffices.
  const isNeeded = ({ file, rule, limit }: Exception) => {
    const value = found.get(`${file} ${rule}`) ?? 0;
    return rule === 'complexity' && limit === 0 ? value > 20 : value > 0;
  };
  const unneeded = named.filter((exception) => !isNeeded(exception)).map(({ file, rule }) => `${file}: ${rule}`);
  expect(unneeded, 'remove these from .oxlintrc.json').toEqual([]);
});

test('no file is named twice for a rule', () => {
  const keys = named.map(({ file, rule }) => `${file} ${rule}`);
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
});
