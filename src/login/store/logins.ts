import type { LoginListQuery, LoginRecord, LoginState, LoginTraceEntry, LoginWaiting } from '../contract/logins.ts';
import type { z } from 'zod';
import type { Db, Queryable } from '../../platform/db/db.ts';
import { readPage } from '../../platform/store/pages.ts';
import type { PageOf } from '../../platform/store/pages.ts';

export type LoginRow = {
  id: string;
  operation: LoginRecord['operation'];
  origin: string;
  username_hint: string | null;
  method: string;
  owner: string;
  state: LoginState;
  action: LoginWaiting | null;
  error: LoginRecord['error'];
  cache: LoginRecord['cache'];
  session_key: string | null;
  credential_id: string | null;
  started_at: Date;
  ended_at: Date | null;
};

const COLUMNS = `id, operation, origin, username_hint, method, owner, state, action, error, cache, session_key,
  credential_id, started_at, ended_at`;
/** The error of a login whose process has ended. */
export const BROWSER_GONE = {
  error: 'challenge_expired',
  message: 'The browser of this login has gone: the service was restarted. Begin again.',
  details: { reason: 'browser_gone' },
} as const;

/** How long a login counts as alive after the last heartbeat of its process. */
export const ALIVE_SECONDS = 60;
const KEPT_DAYS = 7;

export type NewLogin = {
  id: string;
  organizationId: string;
  operation: LoginRecord['operation'];
  origin: string;
  usernameHint: string | null;
  method: string;
  owner: string;
  sessionKey: string | null;
};

export async function insertLogin(db: Queryable, login: NewLogin): Promise<void> {
  const { id, organizationId, operation, origin, usernameHint, method, owner, sessionKey } = login;
  await db.query(
    `INSERT INTO logins (id, organization_id, operation, origin, username_hint, method, owner, state, session_key,
       alive_until)
     VALUES ($1, $2, $3, $4, $5, $6, $7, 'running', $8, now() + $9::int * interval '1 second')`,
    [id, organizationId, operation, origin, usernameHint, method, owner, sessionKey, ALIVE_SECONDS],
  );
}

export type LoginChange = {
  state: LoginState;
  action: LoginWaiting | null;
  error?: LoginRecord['error'];
  cache?: LoginRecord['cache'];
  credentialId?: string | null;
  trace?: readonly LoginTraceEntry[];
};

/** A finished login is never changed. */
export async function updateLogin(
  db: Queryable,
  organizationId: string,
  id: string,
  { state, action, error = null, cache = null, credentialId = null, trace }: LoginChange,
): Promise<void> {
  const hasEnded = state === 'succeeded' || state === 'failed';
  await db.query(
    `UPDATE logins SET state = $3, action = $4, error = $5, cache = $6, credential_id = coalesce($7, credential_id),
       trace = coalesce($8, trace), ended_at = CASE WHEN $9::boolean THEN now() END
     WHERE id = $1 AND organization_id = $2 AND ended_at IS NULL`,
    [
      id,
      organizationId,
      state,
      action && JSON.stringify(action),
      error && JSON.stringify(error),
      cache,
      credentialId,
      trace === undefined ? null : JSON.stringify(trace),
      hasEnded,
    ],
  );
}

/** Renews the heartbeat of a process's logins, and ends logins whose process has sent none for a minute. */
export async function keepLoginsAlive(db: Queryable, owner: string): Promise<void> {
  await db.query(
    `UPDATE logins SET alive_until = now() + $2::int * interval '1 second' WHERE owner = $1 AND ended_at IS NULL`,
    [owner, ALIVE_SECONDS],
  );
  await endAbandonedLogins(db);
}

/** A heartbeat that lasts longer than any can is from before the clock was set back. */
export async function endAbandonedLogins(db: Queryable): Promise<void> {
  await db.query(
    `UPDATE logins SET state = 'failed', action = NULL, error = $1, ended_at = now()
     WHERE ended_at IS NULL AND (alive_until < now() OR alive_until > now() + 2 * $2::int * interval '1 second')`,
    [JSON.stringify(BROWSER_GONE), ALIVE_SECONDS],
  );
}

/** With an embedded database, a process that starts is the only one. */
export async function endAllLogins(db: Queryable): Promise<void> {
  await db.query(
    `UPDATE logins SET state = 'failed', action = NULL, error = $1, ended_at = now() WHERE ended_at IS NULL`,
    [JSON.stringify(BROWSER_GONE)],
  );
}

export async function deleteOldLogins(db: Queryable): Promise<void> {
  await db.query(
    `DELETE FROM logins WHERE ctid IN (
       SELECT ctid FROM logins WHERE ended_at < now() - $1::int * interval '1 day' LIMIT 1000 FOR UPDATE SKIP LOCKED)`,
    [KEPT_DAYS],
  );
}

export async function findLogin(db: Queryable, organizationId: string, id: string): Promise<LoginRow | undefined> {
  const { rows } = await db.query<LoginRow>(`SELECT ${COLUMNS} FROM logins WHERE id = $1 AND organization_id = $2`, [
    id,
    organizationId,
  ]);
  return rows[0];
}

export async function findLoginTrace(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<readonly LoginTraceEntry[]> {
  const { rows } = await db.query<{ trace: LoginTraceEntry[] | null }>(
    'SELECT trace FROM logins WHERE id = $1 AND organization_id = $2',
    [id, organizationId],
  );
  return rows[0]?.trace ?? [];
}

export async function deleteLogin(db: Queryable, organizationId: string, id: string): Promise<boolean> {
  const { rows } = await db.query('DELETE FROM logins WHERE id = $1 AND organization_id = $2 RETURNING id', [
    id,
    organizationId,
  ]);
  return rows.length > 0;
}

const STATES: Record<LoginRecord['status'], LoginState[]> = {
  running: ['running'],
  waiting: ['awaiting_input', 'awaiting_external_action'],
  succeeded: ['succeeded'],
  failed: ['failed'],
};

/** Newest first. */
export function listLogins(
  db: Db,
  organizationId: string,
  { state, status, limit, cursor }: z.output<typeof LoginListQuery>,
): Promise<PageOf<LoginRow>> {
  const states = state ?? (status === undefined ? null : STATES[status]);
  return readPage<LoginRow>(
    db,
    {
      columns: COLUMNS,
      from: 'FROM logins WHERE organization_id = $1 AND ($2::text[] IS NULL OR state = ANY ($2::text[]))',
      params: [organizationId, states],
      keyset: { name: 'newest', keys: [{ sql: 'id', type: 'text' }], direction: 'DESC' },
    },
    { limit, cursor: cursor ?? undefined, ...(cursor === undefined && { offset: undefined }) },
  );
}
