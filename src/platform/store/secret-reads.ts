import type { Db } from '../db/db.ts';
import { newId } from '../ids.ts';
import { currentWorkIds } from '../work-context.ts';
import { insertAudit } from './audit.ts';

/**
 * What was read and for which work. `type` names the kind of resource, such as `credential`. `reader`: who is named as the
 * actor; default `worker`.
 */
export type SecretRead = { type: string; id: string; changes: Record<string, string>; reader?: 'service' };

/** Secrets whose reads of today are remembered; of others a read may be recorded twice. */
const MAX_KNOWN = 10_000;
const recorded = new WeakMap<Db, Map<string, Promise<void>>>();

/** Appends a record of the audit: the service has read a secret to use it. Called before the secret is used. */
export async function recordSecretRead(db: Db, organizationId: string, read: SecretRead): Promise<void> {
  const { requestId = null, sessionId, turnId } = currentWorkIds();
  const { reader = 'worker' } = read;
  const place = { ...(sessionId === undefined ? {} : { sessionId }), ...(turnId === undefined ? {} : { turnId }) };
  await db.transaction(async (tx) => {
    const { rows } = await tx.query<{ name: string }>('SELECT name FROM organizations WHERE id = $1', [organizationId]);
    const [organization] = rows;
    // Deleted meanwhile, and its records with it.
    if (organization === undefined) return;
    await insertAudit(tx, {
      id: newId('adt'),
      time: new Date().toISOString(),
      organization: organization.name,
      organizationId,
      actor: { type: 'system', id: reader, name: reader, ip: null, userAgent: null },
      action: 'readSecret',
      resource: { type: read.type, id: read.id },
      outcome: 'success',
      requestId,
      changes: { ...read.changes, ...place },
    });
  });
}

/**
 * The same for a secret that is read all the time, such as that of a webhook: one record by this process for each day (UTC)
 * and `revision` of the secret.
 */
export async function recordDailyRead(
  db: Db,
  organizationId: string,
  read: SecretRead,
  revision: string,
): Promise<void> {
  const known = recorded.get(db) ?? new Map<string, Promise<void>>();
  recorded.set(db, known);
  const key = JSON.stringify([new Date().toISOString().slice(0, 10), organizationId, read.type, read.id, revision]);
  const before = known.get(key);
  if (before !== undefined) return before;
  const written = recordSecretRead(db, organizationId, read);
  known.set(key, written);
  const [oldest] = known.keys();
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  try {
    await written;
  } catch (error) {
    if (known.get(key) === written) known.delete(key);
    throw error;
  }
}
