import type { Db } from '../db/db.ts';
import type { MasterKeys, Sealed } from '../master-key.ts';
import { UnsealError } from '../master-key.ts';

const BATCH = 200;

type Row = { id: string; sealed: string; data_key: string; master_key_id: string };

/** Where a product keeps sealed secrets. */
export type SealedTable = {
  /** the context that the secrets of the row with this id are sealed for */
  contextOf: (id: string) => string;
  /** selects id, sealed, data_key and master_key_id of `$3` rows after the id `$2` that are not under the master key `$1` */
  list: string;
  /** gives the row `$1` the data key `$3` under the master key `$4`, unless its data key is no longer `$2` */
  save: string;
};

/** A table with the columns id, sealed, data_key and master_key_id. */
export function describeSealedTable(name: string, contextOf: SealedTable['contextOf']): SealedTable {
  return {
    contextOf,
    list: `SELECT id, sealed, data_key, master_key_id FROM ${name}
      WHERE master_key_id <> $1 AND id > $2 ORDER BY id LIMIT $3`,
    save: `UPDATE ${name} SET data_key = $3, master_key_id = $4 WHERE id = $1 AND data_key = $2`,
  };
}

/**
 * Brings every data key of `tables` under the current master key; the secrets themselves stay as they are. May run on
 * many replicas at once and beside refreshes. `failed` counts the rows that no known master key opens.
 */
export async function rewrapSecrets(
  db: Db,
  keys: MasterKeys,
  tables: readonly SealedTable[],
): Promise<{ rewrapped: number; failed: number }> {
  const done = { rewrapped: 0, failed: 0 };
  for (const table of tables) {
    const { rewrapped, failed } = await rewrapTable(db, keys, table);
    done.rewrapped += rewrapped;
    done.failed += failed;
  }
  return done;
}

async function rewrapTable(db: Db, keys: MasterKeys, { contextOf, list, save }: SealedTable) {
  const done = { rewrapped: 0, failed: 0 };
  let after = '';
  for (;;) {
    const { rows } = await db.query<Row>(list, [keys.currentId, after, BATCH]);
    for (const row of rows) {
      after = row.id;
      const rewrapped = rewrap(row, keys, contextOf(row.id));
      if (rewrapped === undefined) {
        done.failed += 1;
        continue;
      }
      // Secrets that changed meanwhile are sealed by the current key already.
      const { rowCount } = await db.query(save, [row.id, row.data_key, rewrapped.dataKey, rewrapped.masterKeyId]);
      done.rewrapped += rowCount;
    }
    if (rows.length < BATCH) return done;
  }
}

function rewrap(row: Row, keys: MasterKeys, context: string): Sealed | undefined {
  try {
    const sealed = { sealed: row.sealed, dataKey: row.data_key, masterKeyId: row.master_key_id };
    return keys.rewrap(sealed, context);
  } catch (error) {
    if (error instanceof UnsealError) return undefined;
    throw error;
  }
}
