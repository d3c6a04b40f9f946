// Tests: test/login/help.test.ts
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

/** Bundles the code of a page folder into one script; takes some tens of milliseconds. */
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
