import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

let bundle: string | undefined;

/** The page code as one script, bundled on first use: some tens of milliseconds, once per process. */
export function getPageScript(): string {
  if (bundle === undefined) {
    const { outputFiles } = buildSync({
      entryPoints: [fileURLToPath(new URL('page/main.ts', import.meta.url))],
      bundle: true,
      write: false,
      format: 'iife',
      target: 'es2022',
      charset: 'utf8',
      legalComments: 'none',
      // A container image lacks the files that the page folder's tsconfig extends.
      tsconfigRaw: {},
    });
    bundle = outputFiles[0]?.text ?? '';
  }
  return bundle;
}
