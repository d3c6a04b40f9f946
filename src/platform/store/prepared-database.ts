import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../../', import.meta.url);
const MIGRATIONS = new URL('src/platform/store/migrations/', ROOT);

/**
 * Where an empty database with the schema of this release lies, once `scripts/prepare-database.ts` has made it. Its name
 * changes with all that shapes it, so one that is out of date is never found.
 */
export function findPreparedDatabase(): string {
  const hash = createHash('sha256');
  for (const name of ['@electric-sql/pglite', 'pg-boss']) {
    hash.update(readFileSync(new URL(`node_modules/${name}/package.json`, ROOT)));
  }
  for (const name of readdirSync(MIGRATIONS).sort()) hash.update(readFileSync(new URL(name, MIGRATIONS)));
  const name = `database-${hash.digest('hex').slice(0, 16)}`;
  return fileURLToPath(new URL(`node_modules/.cache/capstan/${name}`, ROOT));
}
