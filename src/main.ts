import { enableCompileCache, flushCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setServingFlags, setStartFlags } from './platform/v8-flags.ts';

setStartFlags();
// To compile what a role loads takes half of its start. Set before anything of it is loaded; where the folder cannot be
// written, such as in an image, it is read only.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/capstan/compiled', import.meta.url)));

try {
  const { start } = await import('./start.ts');
  await start(process.argv.slice(2), process.env);
  // Now, since a process that is killed leaves nothing.
  flushCompileCache();
  setServingFlags();
} catch (error) {
  const { StartupError, errorText } = await import('./platform/errors.ts');
  const text = error instanceof StartupError ? error.message : error instanceof Error ? error.stack : errorText(error);
  process.stderr.write(`capstan: ${text}\n`);
  process.exit(1);
}
