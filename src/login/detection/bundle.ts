import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

let bundle: string | undefined;

/** The page code as one script, made on first use: some tens of milliseconds, once a process. */
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
      // An image has none of the files that the settings of the page's folder go on from.
      tsconfigRaw: {},
    });
    bundle = outputFiles[0]?.text ?? '';
  }
  return bundle;
}
