// Tests: test/login/help.test.ts
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

/** The code of a page folder as one script: some tens of milliseconds. */
export function bundlePageScript(entry: URL, { minify }: { minify: boolean }): string {
  const { outputFiles } = buildSync({
    entryPoints: [fileURLToPath(entry)],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    minify,
    // A container image lacks the files that the page folder's tsconfig extends.
    tsconfigRaw: {},
  });
  return outputFiles[0]?.text ?? '';
}
