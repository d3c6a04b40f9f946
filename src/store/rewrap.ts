import type { Db } from '../backends/db/db.ts';
import type { MasterKeys, Sealed } from '../master-key.ts';
import { UnsealError } from '../master-key.ts';

const BATCH = 200;

type Row = { id: string; sealed: string; data_key: string; master_key_id: string };

/** Names the row that a credential's secrets belong to. */
export function credentialContext(id: string): string {
  return `credential/${id}`;
}

/**
 * Brings every data key under the current master key; secrets themselves stay as they are. May run on many replicas at
 * once and beside refreshes. `failed` counts those that no key at hand opens.
 */
export async function rewrapCredentials(db: Db, keys: MasterKeys): Promise<{ rewrapped: number; failed: number }> {
  const done = { rewrapped: 0, failed: 0 };
  let after = '';
  for (;;) {
    const { rows } = await db.query<Row>(
      `SELECT id, sealed, data_key, master_key_id FROM vault_credentials
       WHERE master_key_id <> $1 AND id > $2 ORDER BY id LIMIT $3`,
      [keys.currentId, after, BATCH],
    );
    for (const row of rows) {
      after = row.id;
      const rewrapped = rewrap(row, keys);
      if (rewrapped === undefined) {
        done.failed += 1;
        continue;
      }
      // A change of the secrets that came between has sealed them by the current key already.
      const { rowCount } = await db.query(
        'UPDATE vault_credentials SET data_key = $3, master_key_id = $4 WHERE id = $1 AND data_key = $2',
        [row.id, row.data_key, rewrapped.dataKey, rewrapped.masterKeyId],
      );
      done.rewrapped += rowCount;
    }
    if (rows.length < BATCH) return done;
  }
}

function rewrap(row: Row, keys: MasterKeys): Sealed | undefined {
  try {
    const sealed = { sealed: row.sealed, dataKey: row.data_key, masterKeyId: row.master_key_id };
    return keys.rewrap(sealed, credentialContext(row.id));
  } catch (error) {
    if (error instanceof UnsealError) return undefined;
    throw error;
  }
}
