import type { Db } from '../db/db.ts';
import { newId } from '../ids.ts';
import { currentWorkIds } from '../work-context.ts';
import { insertAudit } from './audit.ts';

/** What was read and for which work. `type` names the kind of resource, such as `credential`. */
export type SecretRead = { type: string; id: string; changes: Record<string, string> };

/** Appends a record of the audit: the service has read a secret to use it. Called before the secret is used. */
export async function recordSecretRead(db: Db, organizationId: string, read: SecretRead): Promise<void> {
  const { requestId = null, sessionId, turnId } = currentWorkIds();
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
      actor: { type: 'system', id: 'worker', name: 'worker', ip: null, userAgent: null },
      action: 'readSecret',
      resource: { type: read.type, id: read.id },
      outcome: 'success',
      requestId,
      changes: { ...read.changes, ...place },
    });
  });
}
