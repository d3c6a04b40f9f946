import type { Db } from '../db/db.ts';
import type { MasterKeys, Sealed } from '../master-key.ts';
import { UnsealError } from '../master-key.ts';

const BATCH = 200;

type Row = { id: string; sealed: string; data_key: string; master_key_id: string };

/** Names the row that a credential's secrets belong to. */
export function credentialContext(id: string): string {
  return `credential/${id}`;
}

/** Names the row that the secrets of a website's account belong to. */
export function loginContext(id: string): string {
  return `login-credential/${id}`;
}

/** Names the organization that a secret of webhooks belongs to. */
export function webhookContext(organizationId: string): string {
  return `webhooks/${organizationId}`;
}

type Secrets = { contextOf: (id: string) => string; list: string; save: string };

function describeTable(name: string, contextOf: Secrets['contextOf']): Secrets {
  return {
    contextOf,
    list: `SELECT id, sealed, data_key, master_key_id FROM ${name}
      WHERE master_key_id <> $1 AND id > $2 ORDER BY id LIMIT $3`,
    save: `UPDATE ${name} SET data_key = $3, master_key_id = $4 WHERE id = $1 AND data_key = $2`,
  };
}

/** Where secrets lie for as long as nobody deletes them, and what each row's are sealed for. */
const TABLES: readonly Secrets[] = [
  describeTable('vault_credentials', credentialContext),
  describeTable('login_credentials', loginContext),
  {
    contextOf: webhookContext,
    list: `SELECT organization_id AS id, webhook_secret->>'sealed' AS sealed, webhook_secret->>'dataKey' AS data_key,
        webhook_secret->>'masterKeyId' AS master_key_id FROM credit_accounts
      WHERE webhook_secret->>'masterKeyId' <> $1 AND organization_id > $2 ORDER BY organization_id LIMIT $3`,
    save: `UPDATE credit_accounts
      SET webhook_secret = webhook_secret || jsonb_build_object('dataKey', $3::text, 'masterKeyId', $4::text)
      WHERE organization_id = $1 AND webhook_secret->>'dataKey' = $2`,
  },
];

/**
 * Brings every data key under the current master key; secrets themselves stay as they are. May run on many replicas at
 * once and beside refreshes. `failed` counts those that no key at hand opens.
 */
export async function rewrapCredentials(db: Db, keys: MasterKeys): Promise<{ rewrapped: number; failed: number }> {
  const done = { rewrapped: 0, failed: 0 };
  for (const table of TABLES) {
    const { rewrapped, failed } = await rewrapTable(db, keys, table);
    done.rewrapped += rewrapped;
    done.failed += failed;
  }
  return done;
}

async function rewrapTable(db: Db, keys: MasterKeys, { contextOf, list, save }: Secrets) {
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
      // A change of the secrets that came between has sealed them by the current key already.
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
