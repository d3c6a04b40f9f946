import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const HEAD = /^\/\/ Tests: (.+)$/m;

const paths = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter((path) => existsSync(join(ROOT, path)));
const tests = paths.filter((path) => path.endsWith('.test.ts'));
const folders = Map.groupBy(
  paths.filter((path) => /^(src|operator|sandbox-image)\//.test(path)),
  (path) => dirname(path),
);

/** The tests of a source folder, unless a file in it names others: src/video/media → test/video/media. */
const mirror = (folder: string): string => join('test', folder.replace(/^src(\/|$)/, ''));

/** Tests that the head comments of these files name: `// Tests: test/flow/turn.test.ts, test/cluster`. */
function readNamedTests(files: readonly string[]): string[] {
  return files.flatMap((file) => {
    const head = HEAD.exec(readFileSync(join(ROOT, file), 'utf8'))?.[1];
    return head === undefined ? [] : head.split(', ');
  });
}

test('every source folder has tests at its mirrored path or names them in a head comment', () => {
  expect(folders.size).toBeGreaterThan(50);
  const lost = [...folders]
    .filter(
      ([folder]) => !tests.some((path) => dirname(path) === mirror(folder) || path === `${mirror(folder)}.test.ts`),
    )
    .filter(([, files]) => readNamedTests(files).length === 0)
    .map(([folder]) => folder);
  expect(lost, 'add `// Tests: test/…` to the head of the main file of these folders').toEqual([]);
});

test('head comments name tests that exist', () => {
  const named = [...folders.values()].flatMap((files) => readNamedTests(files));
  const isTest = (path: string) => tests.some((known) => known === path || known.startsWith(`${path}/`));
  expect(named.filter((path) => !isTest(path))).toEqual([]);
});
