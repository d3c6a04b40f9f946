import { bundlePageScript } from '../page-script.ts';

let bundle: string | undefined;

/** The page code as one script, bundled on first use, once per process. */
export function getPageScript(): string {
  return (bundle ??= bundlePageScript(new URL('page/main.ts', import.meta.url), { minify: false }));
}
