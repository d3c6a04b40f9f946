// Tests: test/flow/servers.test.ts, test/flow/outages.test.ts
import { join } from 'node:path';
import type { Db } from '../../platform/db/db.ts';
import { findPreparedDatabase } from '../../platform/store/prepared-database.ts';
import type { BareContext } from '../context.ts';

/** A database that is being opened. */
export type OpeningDatabase = { readonly opened: Promise<Db> };

/**
 * Begins to open the database that the configuration names and loads only its adapter. The thread of the embedded
 * database runs when this returns, so that it opens while the modules of the role are loaded.
 */
export async function startDatabase({ config, lifecycle }: BareContext): Promise<OpeningDatabase> {
  const { databaseUrl: url, databasePool: poolSize, statementTimeoutMs } = config;
  let opened: Promise<Db>;
  if (url === undefined) {
    const { openPglite } = await import('../../platform/db/pglite.ts');
    opened = openPglite({
      dataDir: join(config.dataDir, 'database'),
      template: findPreparedDatabase(),
      statementTimeoutMs,
      fsync: config.fsync,
      floor: config.storageFloor,
      onLost: (error) => lifecycle.fail(error),
    });
  } else {
    const { openPostgres } = await import('../../platform/db/postgres.ts');
    opened = openPostgres({ url, poolSize, statementTimeoutMs });
  }
  // The role reports the failure once it is loaded.
  opened.catch(() => undefined);
  return { opened };
}
