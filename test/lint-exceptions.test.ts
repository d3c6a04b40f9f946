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

/** Every function more complex than 15, with its complexity. Remove or lower entries; never add one. */
const COMPLEX: Record<string, number> = {
  'clients/typescript/follow.ts followSession': 18,
  'operator/session/decide.ts decideOnPod': 17,
  'operator/volume/decide.ts describeClaim': 19,
  'sandbox-image/executor/files/resolve.ts locate': 30,
  'sandbox-image/executor/receive/operations.ts runOperation': 20,
  'src/agents/api/events/attachments/reduce.ts reduceJson': 17,
  'src/agents/loop/compaction/plan.ts planCompaction': 20,
  'src/agents/loop/tool-calls/decide.ts decideCall': 19,
  'src/gateway/dialects/responses/resource.ts buildEcho': 19,
  'src/inference/collect.ts collectReply': 20,
  'src/inference/retry.ts streamWithRetries': 20,
  'src/inference/upstream/chat-completions/reader.ts pushChunk': 18,
  'src/inference/upstream/messages/reader.ts push': 20,
  'src/inference/upstream/messages/thinking.ts decideThinking': 18,
  'src/login/detection/captions.ts decideWords': 19,
  'src/login/detection/login-links.ts rate': 19,
  'src/login/detection/outcome-signals.ts readMessageCause': 17,
  'src/login/detection/page/describe.ts describeElement': 20,
  'src/login/detection/signals.ts weighFields': 19,
  'src/login/flow/after-submit.ts decidePending': 16,
  'src/login/flow/challenge.ts describeChallenge': 20,
  'src/login/flow/decide.ts decideFill': 17,
  'src/login/open-site.ts goTo': 19,
  'src/platform/contract/validation.ts describeConstraint': 17,
  'src/video/references/resolve.ts resolveReferences': 20,
  'test/agents/api/events/reconnect.test.ts connect': 19,
  'test/agents/api/fuzz/values.ts makeValid': 19,
  'test/flow/canary.test.ts (anonymous)': 20,
  'test/support/crash/keep.ts (anonymous)': 19,
  'test/support/login-sites/failures.ts serve': 18,
  'test/support/service.ts startService': 19,
  'test/video/engines/remote/protocols.ts speak': 19,
};

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

type Violation = { file: string; rule: string; name: string; value: number };

/** The violations of the named files without any exception. `value` is the complexity, otherwise 1. */
async function lintWithoutExceptions(): Promise<Violation[]> {
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
    return Report.parse(JSON.parse(stdout)).diagnostics.map(({ code, filename, message }) => ({
      file: filename,
      rule: code.replace(/^eslint\((.*)\)$/, '$1').replace(/^import\((.*)\)$/, 'import/$1'),
      name: /`([^`]+)`/.exec(message)?.[1] ?? '(anonymous)',
      value: Number(/complexity of (\d+)/.exec(message)?.[1] ?? 1),
    }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('only tests have an exception by pattern: a describe block is no long function', () => {
  const patterns = exceptions.filter(({ file }) => file.includes('*'));
  expect(patterns).toEqual([{ file: 'test/**/*.test.ts', rule: 'max-lines-per-function', limit: 0 }]);
});

const violations = lintWithoutExceptions();

/** The highest value of each key. */
function collectHighest(entries: readonly (readonly [string, number])[]): Map<string, number> {
  const highest = new Map<string, number>();
  for (const [key, value] of entries) highest.set(key, Math.max(highest.get(key) ?? 0, value));
  return highest;
}

test('the list of complex functions only shrinks', async () => {
  const complex = (await violations).filter(({ rule }) => rule === 'complexity');
  const found = collectHighest(complex.map(({ file, name, value }) => [`${file} ${name}`, value]));
  expect(Object.fromEntries(found), 'remove or lower entries of COMPLEX').toEqual(COMPLEX);
});

test('every exception in .oxlintrc.json is still needed', async () => {
  const found = collectHighest((await violations).map(({ file, rule, value }) => [`${file} ${rule}`, value]));
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
