import type { Queryable } from '../../../platform/db/db.ts';
import type { Session } from '../../contract/sessions.ts';
import { errors } from '../../../platform/errors.ts';
import { findSession } from '../../store/sessions.ts';

/** Throws `not_found` also for another organization's session. */
export async function getSession(db: Queryable, organizationId: string, id: string): Promise<Session> {
  const session = await findSession(db, organizationId, id);
  if (session === undefined) throw errors.notFound('session');
  return session;
}
