import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import type { Db } from '../../src/platform/db/db.ts';
import { openPglite } from '../../src/platform/db/pglite.ts';
import { openPostgres } from '../../src/platform/db/postgres.ts';
import { findPreparedDatabase } from '../../src/platform/store/prepared-database.ts';
import { findService } from './find-service.ts';
import { makeScratch } from './scratch.ts';
import { TEMPLATE, withDatabase } from './template.ts';

/** A migrated database for one test file. `close` deletes it. */
export type TestDatabase = { db: Db; close(): Promise<void> };

/** Embedded; needs nothing installed. About 0.5 s. */
export async function openEmbeddedDatabase(): Promise<TestDatabase> {
  const folder = makeScratch('db');
  const db = await openPglite({ dataDir: join(folder, 'db'), template: findPreparedDatabase(), fsync: false });
  return {
    db,
    close: async () => {
      await db.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A new database on the run's PostgreSQL; `url` is what `findService('postgres')` gave. `migrated: false` leaves it empty. */
export async function openPostgresDatabase(
  url: string,
  options: { poolSize?: number; migrated?: boolean } = {},
): Promise<TestDatabase & { url: string }> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const server = await openPostgres({ url, poolSize: 1 });
  await server.exec(`CREATE DATABASE ${name} TEMPLATE ${options.migrated === false ? 'template1' : TEMPLATE}`);
  const own = withDatabase(url, name);
  const db = await openPostgres({ url: own, poolSize: options.poolSize ?? 5 });
  return {
    db,
    url: own,
    close: async () => {
      await db.close();
      await server.exec(`DROP DATABASE ${name} WITH (FORCE)`);
      await server.close();
    },
  };
}

/** A name and how to open it, for `describe.each`: the embedded database, and PostgreSQL where there is one. */
export async function listDatabases(): Promise<[name: string, open: () => Promise<TestDatabase>][]> {
  const postgres = await findService('postgres');
  return [
    ['PGlite', () => openEmbeddedDatabase()],
    ...(postgres === undefined
      ? []
      : [['PostgreSQL', () => openPostgresDatabase(postgres)] as [string, () => Promise<TestDatabase>]]),
  ];
}
