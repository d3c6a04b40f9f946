import { readdirSync } from 'node:fs';
import { flushCompileCache, getCompileCacheDir } from 'node:module';
import { setStartFlags } from '../src/platform/v8-flags.ts';

/**
 * Loads all modules of the roles, so that their compiled form is in the folder NODE_COMPILE_CACHE: for an image, whose
 * processes cannot write there. Without it each process would have to strip types, for which Node keeps 25 MiB.
 */
if (getCompileCacheDir() === undefined) throw new Error('NODE_COMPILE_CACHE names no folder that can be written');
setStartFlags();
const source = new URL('../src/', import.meta.url);
const roles = readdirSync(new URL('roles/', source), { recursive: true, encoding: 'utf8' });
for (const path of ['start.ts', ...roles.filter((name) => name.endsWith('.ts')).map((name) => `roles/${name}`)]) {
  await import(new URL(path, source).href);
}
flushCompileCache();
process.exit(0);
