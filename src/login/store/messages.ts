import type { Queryable } from '../../platform/db/db.ts';
import type { Sealed } from '../../platform/master-key.ts';
import { readRow } from '../../platform/store/rows.ts';
import type { RowOf } from '../../platform/store/rows.ts';

export type StoredMessage = Sealed & { id: string };

/** Messages that a mailbox holds; older ones make room for new ones. */
const MAX_KEPT = 20;

export async function insertLoginMessage(
  db: Queryable,
  message: StoredMessage & { organizationId: string; mailboxId: string },
): Promise<void> {
  await db.query(
    `INSERT INTO login_messages (id, organization_id, mailbox_id, sealed, data_key, master_key_id)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [message.id, message.organizationId, message.mailboxId, message.sealed, message.dataKey, message.masterKeyId],
  );
  await db.query(
    `DELETE FROM login_messages WHERE organization_id = $1 AND mailbox_id = $2 AND id NOT IN (
       SELECT id FROM login_messages WHERE organization_id = $1 AND mailbox_id = $2
       ORDER BY received_at DESC, id DESC LIMIT ${MAX_KEPT})`,
    [message.organizationId, message.mailboxId],
  );
}

/** The ids of the messages that a mailbox holds. */
export async function listLoginMessageIds(
  db: Queryable,
  organizationId: string,
  mailboxId: string,
): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    'SELECT id FROM login_messages WHERE organization_id = $1 AND mailbox_id = $2',
    [organizationId, mailboxId],
  );
  return rows.map(({ id }) => id);
}

/** Removes and returns the messages of a mailbox but for these, oldest first. */
export async function takeLoginMessages(
  db: Queryable,
  organizationId: string,
  { mailboxId, except }: { mailboxId: string; except: readonly string[] },
): Promise<readonly StoredMessage[]> {
  const { rows } = await db.query<RowOf<StoredMessage>>(
    `DELETE FROM login_messages WHERE organization_id = $1 AND mailbox_id = $2 AND id <> ALL ($3::text[])
     RETURNING id, sealed, data_key, master_key_id`,
    [organizationId, mailboxId, except],
  );
  return rows.map((row) => readRow<StoredMessage>(row)).toSorted((left, right) => (left.id < right.id ? -1 : 1));
}

export async function deleteOldLoginMessages(db: Queryable): Promise<void> {
  await db.query(`DELETE FROM login_messages WHERE received_at < now() - interval '15 minutes'`);
}
