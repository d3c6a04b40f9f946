import { openPostgres } from '../platform/db/postgres.ts';
import { buildAnyList } from '../platform/contract/common.ts';
import { errorText } from '../platform/errors.ts';
import { createKey, listKeys, revokeKey } from '../platform/store/keys.ts';
import { runMigrations } from '../platform/store/migrate.ts';
import { CliError } from './cli-error.ts';
import type { KeyService } from './keys.ts';

const PAGE = { limit: 100, offset: 0 };

/** Keys without a server: straight to the database, for the very first one. */
export async function withStoredKeys<T>(url: string, use: (keys: KeyService) => Promise<T>): Promise<T> {
  const db = await openPostgres({ url, poolSize: 1 }).catch((error: unknown) => {
    throw new CliError(`The database cannot be opened: ${errorText(error)}`);
  });
  try {
    await runMigrations(db);
    return await use({
      create: (key) => createKey(db, key),
      async list() {
        const found = await listKeys(db, PAGE, null);
        return buildAnyList(found.rows, PAGE, found);
      },
      async revoke(id) {
        if (!(await revokeKey(db, id, null))) throw new CliError('No such key.');
      },
    });
  } finally {
    await db.close();
  }
}
