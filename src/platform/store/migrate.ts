import { readFile, readdir } from 'node:fs/promises';

import { isUniqueViolation } from '../db/db.ts';
import type { Db } from '../db/db.ts';
import { StartupError } from '../errors.ts';

/** An arbitrary constant: the advisory lock for schema changes. */
const LOCK = `SELECT pg_advisory_xact_lock(4242010001)`;

const DIRECTORY = new URL('./migrations/', import.meta.url);
const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;

type Migration = { version: number; name: string };

async function listMigrations(directory: URL): Promise<Migration[]> {
  const migrations = (await readdir(directory))
    .sort()
    .flatMap((name) => (FILE_NAME.test(name) ? [{ version: Number(name.slice(0, 4)), name }] : []));
  const twice = migrations.find(({ version }, index) => migrations[index - 1]?.version === version);
  if (twice) throw new Error(`Two migrations have the number of ${twice.name}.`);
  return migrations;
}

async function listApplied(db: Db): Promise<Set<number>> {
  const { rows } = await db.query<{ version: number }>('SELECT version FROM schema_migrations');
  return new Set(rows.map(({ version }) => version));
}

/**
 * Brings the schema up to date, each file in one transaction with its row in `schema_migrations`; several processes may
 * start at once. Returns the names of the files applied here. Throws `StartupError` when the database is newer than the
 * code.
 */
export async function runMigrations(db: Db, directory: URL = DIRECTORY): Promise<string[]> {
  const known = await listMigrations(directory);
  await db.exec(`BEGIN; ${LOCK};
    CREATE TABLE IF NOT EXISTS schema_migrations (
      version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
    );
    COMMIT;`);
  const applied = await listApplied(db);
  const newest = Math.max(0, ...applied);
  if (newest > (known.at(-1)?.version ?? 0)) {
    throw new StartupError(
      `The database has schema version ${newest}, newer than this program: start a newer release.`,
    );
  }
  const here: string[] = [];
  for (const { version, name } of known) {
    if (applied.has(version)) continue;
    const sql = await readFile(new URL(name, directory), 'utf8');
    // The row comes first: a process that waited for the lock behind another one fails on it before it does anything.
    const script = `BEGIN; ${LOCK};
      INSERT INTO schema_migrations (version, name) VALUES (${version}, '${name}');
      ${sql};
      COMMIT;`;
    try {
      await db.exec(script);
      here.push(name);
    } catch (error) {
      if (!isUniqueViolation(error) || !(await listApplied(db)).has(version)) throw error;
    }
  }
  return here;
}
